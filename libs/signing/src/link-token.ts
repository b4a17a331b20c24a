import { createCipheriv, randomFillSync, timingSafeEqual } from 'node:crypto';
import { isCallerId } from '@perkway/domain';
import { decodeCanonical, writeBase64url } from './base64url.js';
import { hmac, type Keyring } from './keyring.js';

/**
 * The token of a `click_url`. docs/adr/0003-link-tokens.md explains the design and its security.
 *
 *   header (27 bytes): version 1 | key id 8, zero padded | time 6, epoch ms | nonce 12
 *   stamp  (18 bytes): index 2 | tag 16
 *   body   (3n bytes): lengths of account, collection, perk 3 | the three ids | zero padding
 *
 * Each part is a multiple of 3 bytes and is encoded separately as base64url, without unused bits. The header is encoded
 * once per batch and the body once per perk.
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
/** The two-byte index limits the links of a batch. */
export const MAX_LINKS_IN_BATCH = 0x10000;

const textLength = (bytes: number): number => (bytes / 3) * 4;
const HEADER_TEXT = textLength(HEADER_LENGTH);
const BODY_TEXT_AT = textLength(BODY_AT);
/** Length of the part of a token that differs between links; the constant body follows. */
export const LINK_HEAD_LENGTH = BODY_TEXT_AT;
const MAX_TOKEN_TEXT = BODY_TEXT_AT + textLength(303);

/** The target of a link: ids of 1 to 100 characters `[A-Za-z0-9._-]`. */
export interface LinkTarget {
  account: string;
  collection: string;
  perk: string;
}
export interface VerifiedLink extends LinkTarget {
  /** Creation time in epoch milliseconds. */
  at: number;
}

/** The constant part of a perk's links, created once per (account, collection, perk) and signer. */
export interface PreparedLink {
  /** Length in characters of its tokens, which are ASCII. */
  readonly length: number;
  /** The body as base64url. */
  readonly text: Buffer;
  /** Truncated HMAC of the body. Keep it secret. */
  readonly hash: Buffer;
}

/** Links created within a few milliseconds. They share a header with its time and nonce; each has its own index. */
export interface LinkBatch {
  token(link: PreparedLink): string;
  /** Writes `link.length` bytes of ASCII at `offset`. */
  write(link: PreparedLink, target: Buffer, offset: number): void;
  /** Writes only the first `LINK_HEAD_LENGTH` bytes; the constant `link.text` must already follow them. */
  writeHead(link: PreparedLink, target: Buffer, offset: number): void;
}

const fetchKey = (purpose: string): string => `link/v${VERSION}/${purpose}/fetch`;
const bodyKey = (purpose: string): string => `link/v${VERSION}/${purpose}/body`;

function encodeBody({ account, collection, perk }: LinkTarget): Buffer {
  for (const [name, id] of Object.entries({ account, collection, perk }))
    if (!isCallerId(id)) throw new RangeError(`cannot create a link: ${name} is not a valid id`);
  const length = 3 + account.length + collection.length + perk.length;
  const body = Buffer.alloc(Math.ceil(length / 3) * 3);
  body.set([account.length, collection.length, perk.length]);
  body.write(account + collection + perk, 3, 'latin1');
  return body;
}

const bodyHash = (key: Buffer, body: Buffer): Buffer => hmac(key, body).subarray(0, TAG_LENGTH);

const FIRST_BLOCK = Buffer.alloc(16);
const PADS_AT_ONCE = Buffer.alloc(64 * TAG_LENGTH);

// Fetch random bytes in bulk: randomFillSync costs more per call than per byte.
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
    // Two links with the same pad could be combined into a forged third one.
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

/** Signs links with the current key. A link verifies only under the purpose it was signed for. */
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

/** Reads a zero-padded key id. A malformed one needs no check, because the tag of a forged header fails anyway. */
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

/** Returns the target of a token, or null if this keyring did not sign it for the purpose. Never throws. */
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
  // Encrypting the hash in counter mode from that block is the XOR with the pad.
  const tag = createCipheriv('aes-256-ctr', key, block).update(bodyHash(forBody, body));
  if (!timingSafeEqual(tag, bytes.subarray(BODY_AT - TAG_LENGTH, BODY_AT))) return null;
  const target = decodeBody(body);
  return target && { ...target, at: bytes.readUIntBE(TIME_AT, 6) };
}
