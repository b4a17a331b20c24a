import { createCipheriv, randomFillSync, timingSafeEqual } from 'node:crypto';
import { isCallerId } from '@perkway/domain';
import { decodeCanonical, writeBase64url } from './base64url.js';
import { hmac, type Keyring } from './keyring.js';

/**
 * The token of a `click_url`. docs/adr/0003-link-tokens.md says why it is built like this and why it is sound.
 *
 *   header (27 bytes): version 1 | key id 8, zero padded | time 6, epoch ms | nonce 12
 *   stamp  (18 bytes): index 2 | tag 16
 *   body   (3n bytes): lengths of account, collection, perk 3 | the three ids | zero padding
 *
 * The parts are multiples of 3 bytes, so each has its own base64url text, no text has unused bits, and header and body
 * are turned into text once per fetch and once per perk.
 */
const VERSION = 1;
const KEY_ID_LENGTH = 8;
const TIME_AT = 1 + KEY_ID_LENGTH;
const NONCE_AT = TIME_AT + 6;
const NONCE_LENGTH = 12;
const HEADER_LENGTH = NONCE_AT + NONCE_LENGTH;
const TAG_LENGTH = 16;
const STAMP_LENGTH = 2 + TAG_LENGTH;
const BODY_AT = HEADER_LENGTH + STAMP_LENGTH;
/** As many links can be made from one batch. */
export const MAX_LINKS_IN_BATCH = 0x10000;

const textLength = (bytes: number): number => (bytes / 3) * 4;
const HEADER_TEXT = textLength(HEADER_LENGTH);
const BODY_TEXT_AT = textLength(BODY_AT);
/** The characters of a token that change from link to link; those of its body, which do not, follow. */
export const LINK_HEAD_LENGTH = BODY_TEXT_AT;
const MAX_TOKEN_TEXT = BODY_TEXT_AT + textLength(303);

/** What a link leads to: ids of 1 to 100 characters `[A-Za-z0-9._-]`. */
export interface LinkTarget {
  account: string;
  collection: string;
  perk: string;
}
export interface VerifiedLink extends LinkTarget {
  /** When the link was made, epoch milliseconds. */
  at: number;
}

/** The unchanging part of a perk's links, made once per (account, collection, perk) and signer. */
export interface PreparedLink {
  /** Characters of every token made from it, all of them ASCII. */
  readonly length: number;
  /** The text of the body. */
  readonly text: Buffer;
  /** HMAC of the body, truncated: a secret of the server. */
  readonly hash: Buffer;
}

/** Links made at about the same moment. They share a header, hence a time and a nonce; each has its own index. */
export interface LinkBatch {
  token(link: PreparedLink): string;
  /** Writes `link.length` bytes of ASCII at `offset`. */
  write(link: PreparedLink, target: Buffer, offset: number): void;
  /** Writes the first `LINK_HEAD_LENGTH` bytes of that only: `link.text`, which never changes, stands behind them. */
  writeHead(link: PreparedLink, target: Buffer, offset: number): void;
}

const fetchKey = (purpose: string): string => `link/v${VERSION}/${purpose}/fetch`;
const bodyKey = (purpose: string): string => `link/v${VERSION}/${purpose}/body`;

function encodeBody({ account, collection, perk }: LinkTarget): Buffer {
  for (const [name, id] of Object.entries({ account, collection, perk }))
    if (!isCallerId(id)) throw new RangeError(`a link cannot be made: ${name} is not a valid id`);
  const length = 3 + account.length + collection.length + perk.length;
  const body = Buffer.alloc(Math.ceil(length / 3) * 3);
  body.set([account.length, collection.length, perk.length]);
  body.write(account + collection + perk, 3, 'latin1');
  return body;
}

const bodyHash = (key: Buffer, body: Buffer): Buffer => hmac(key, body).subarray(0, TAG_LENGTH);

const FIRST_BLOCK = Buffer.alloc(16);
const PADS_AT_ONCE = Buffer.alloc(64 * TAG_LENGTH);

// randomFillSync costs more per call than per byte.
const randomness = Buffer.alloc(NONCE_LENGTH * 256);
let randomnessUsed = randomness.length;
function writeNonce(target: Buffer, offset: number): void {
  if (randomnessUsed === randomness.length) {
    randomFillSync(randomness);
    randomnessUsed = 0;
  }
  randomness.copy(target, offset, randomnessUsed, (randomnessUsed += NONCE_LENGTH));
}

class Batch implements LinkBatch {
  readonly #headerText = Buffer.allocUnsafe(HEADER_TEXT);
  readonly #stamp = new Uint8Array(STAMP_LENGTH);
  readonly #cipher;
  #pads: Buffer;
  #padsFrom = 0;
  #index = 0;

  constructor(key: Buffer, header: Buffer) {
    writeBase64url(header, this.#headerText, 0);
    this.#cipher = createCipheriv('aes-256-ctr', hmac(key, header), FIRST_BLOCK);
    this.#pads = this.#cipher.update(PADS_AT_ONCE);
  }

  token(link: PreparedLink): string {
    const token = Buffer.allocUnsafe(link.length);
    this.write(link, token, 0);
    return token.toString('latin1');
  }

  write(link: PreparedLink, target: Buffer, offset: number): void {
    this.writeHead(link, target, offset);
    target.set(link.text, offset + BODY_TEXT_AT);
  }

  writeHead(link: PreparedLink, target: Buffer, offset: number): void {
    if (offset < 0 || offset + link.length > target.length) throw new RangeError('the token does not fit');
    const index = this.#index++;
    // A pad used twice would let two links be mixed into a third.
    if (index === MAX_LINKS_IN_BATCH)
      throw new RangeError(`one batch makes at most ${MAX_LINKS_IN_BATCH} links`);
    let pad = index * TAG_LENGTH - this.#padsFrom;
    if (pad === this.#pads.length) {
      this.#padsFrom += pad;
      this.#pads = this.#cipher.update(PADS_AT_ONCE);
      pad = 0;
    }
    const stamp = this.#stamp;
    stamp[0] = index >> 8;
    stamp[1] = index & 255;
    for (let i = 0; i < TAG_LENGTH; i += 1) stamp[2 + i] = link.hash[i]! ^ this.#pads[pad + i]!;
    target.set(this.#headerText, offset);
    writeBase64url(stamp, target, offset + HEADER_TEXT);
  }
}

export interface LinkSigner {
  prepare(target: LinkTarget): PreparedLink;
  /** Starts a batch; `now` is epoch milliseconds. */
  begin(now?: number): LinkBatch;
}

/** Signs with the current key of the ring. A link verifies only under the purpose it was signed for. */
export function createLinkSigner(keyring: Keyring, purpose = 'click'): LinkSigner {
  const forFetch = keyring.subkey(fetchKey(purpose))!;
  const forBody = keyring.subkey(bodyKey(purpose))!;
  const header = Buffer.alloc(HEADER_LENGTH);
  header[0] = VERSION;
  header.write(keyring.current, 1, 'latin1');
  return {
    prepare(target) {
      const body = encodeBody(target);
      const text = Buffer.from(body.toString('base64url'), 'latin1');
      return { length: BODY_TEXT_AT + text.length, text, hash: bodyHash(forBody, body) };
    },
    begin(now = Date.now()) {
      header.writeUIntBE(now, TIME_AT, 6);
      writeNonce(header, NONCE_AT);
      return new Batch(forFetch, header);
    },
  };
}

/** Reads a zero-padded key id; a header with anything else in it was not made here and fails the tag anyway. */
const readKeyId = (bytes: Buffer): string => {
  const text = bytes.toString('latin1', 1, TIME_AT);
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
};

function decodeBody(body: Buffer): LinkTarget | null {
  const ends: number[] = [3];
  for (let i = 0; i < 3; i += 1) ends.push(ends[i]! + body[i]!);
  const [from, second, third, end] = ends as [number, number, number, number];
  if (end > body.length || body.length - end > 2) return null;
  const account = body.toString('latin1', from, second);
  const collection = body.toString('latin1', second, third);
  const perk = body.toString('latin1', third, end);
  return isCallerId(account) && isCallerId(collection) && isCallerId(perk)
    ? { account, collection, perk }
    : null;
}

/** The target of a token, or null for anything that this ring did not sign for the purpose. Never throws. */
export function verifyLink(keyring: Keyring, token: string, purpose = 'click'): VerifiedLink | null {
  const bytes = decodeCanonical(token, MAX_TOKEN_TEXT);
  if (!bytes || bytes.length <= BODY_AT || bytes.length % 3 !== 0 || bytes[0] !== VERSION) return null;
  const keyId = readKeyId(bytes);
  const forFetch = keyring.subkey(fetchKey(purpose), keyId);
  const forBody = keyring.subkey(bodyKey(purpose), keyId);
  if (!forFetch || !forBody) return null;
  const body = bytes.subarray(BODY_AT);
  const block = Buffer.alloc(16);
  bytes.copy(block, 14, HEADER_LENGTH, HEADER_LENGTH + 2);
  const key = hmac(forFetch, bytes.subarray(0, HEADER_LENGTH));
  // Encrypting the hash in counter mode at that block is the XOR with the pad.
  const tag = createCipheriv('aes-256-ctr', key, block).update(bodyHash(forBody, body));
  if (!timingSafeEqual(tag, bytes.subarray(BODY_AT - TAG_LENGTH, BODY_AT))) return null;
  const target = decodeBody(body);
  return target && { ...target, at: bytes.readUIntBE(TIME_AT, 6) };
}
