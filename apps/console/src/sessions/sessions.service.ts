import { Inject, Injectable } from '@nestjs/common';
import { hashApiKey, KeyStore } from '@perkway/auth';
import { ApiError, isApiKey, type ConsoleKeyHolder } from '@perkway/domain';
import { ENV, Loops } from '@perkway/platform';
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { ConsoleEnv } from '../env.js';
import { ConsoleKeys } from './console-keys.js';
import type { Session } from './session.js';

const MAX_LIFETIME_MS = 12 * 60 * 60_000;
const MAX_IDLE = "interval '1 hour'";
const SWEEP_MS = 60_000;
/** A session id: 32 bytes as base64url, the first half random, the second half its MAC. */
const ID = /^[\w-]{43}$/;
const HALF_BYTES = 16;

const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex');

interface Row {
  hash: string;
  console_key_id: string;
  keyring_id: string;
  account_id: string;
  account_name: string;
  key_id: string | null;
  key_name: string | null;
  email: string | null;
  viewed_account_id: string | null;
  viewed_account_name: string | null;
  viewing_key_id: string | null;
  expires_at: Date;
  is_recently_used: boolean;
}

const FIND = `
  select *, used_at > now() - interval '1 minute' as is_recently_used from sessions
  where hash = $1 and expires_at > now() and used_at > now() - ${MAX_IDLE}`;
const SWEEP = `
  delete from sessions where hash in (
    select hash from sessions where expires_at <= now() or used_at <= now() - ${MAX_IDLE}
    limit 500 for update skip locked
  ) returning console_key_id, viewing_key_id`;

/** Sets or ends the view of a session. Returns the previous view's key, even if another request has just set it. */
const SET_VIEW = `
  with before as (select viewing_key_id from sessions where hash = $1 for update)
  update sessions set viewed_account_id = $2, viewed_account_name = $3, viewing_key_id = $4 from before
  where hash = $1 returning before.viewing_key_id`;

type KeyIds = Pick<Row, 'console_key_id' | 'viewing_key_id'>;
const keysOf = (rows: KeyIds[]) =>
  rows.flatMap(({ console_key_id, viewing_key_id }) => [
    console_key_id,
    ...(viewing_key_id ? [viewing_key_id] : []),
  ]);

/** Manages sessions. The store holds hashes of the ids, so reading it does not allow signing in. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly consoleKeys: ConsoleKeys,
    private readonly keys: KeyStore,
    @Inject(ENV) private readonly env: ConsoleEnv,
    loops: Loops,
  ) {
    loops.add({ task: 'delete expired sessions', everyMs: SWEEP_MS, run: () => this.sweep() });
  }

  /** Starts a session for an API key. @throws API_KEY_INVALID, whatever is wrong with the key */
  async signInWithKey(apiKey: string): Promise<{ id: string; session: Session }> {
    // Checks the key in a batched lookup first, so that a guess costs no transaction.
    const known = isApiKey(apiKey) ? await this.keys.find(apiKey) : undefined;
    if (!known || known.role === 'JOURNEY') throw new ApiError('API_KEY_INVALID', WRONG_KEY);
    return this.begin({ keyHash: hashApiKey(this.env.API_KEY_PEPPER, apiKey) });
  }

  /**
   * Starts a session for a person. @throws API_KEY_INVALID if the person belongs to no account, or not to the given one
   */
  signInPerson(email: string, account?: string): Promise<{ id: string; session: Session }> {
    return this.begin({ email, account });
  }

  /** Returns the session; undefined if it does not exist, has ended, or its key or person lost access. */
  async find(id: string): Promise<Session | undefined> {
    // A made-up id fails its MAC and costs no database read.
    if (!this.isOurs(id)) return undefined;
    const [row] = await this.dataSource.query<Row[]>(FIND, [hashOf(id)]);
    if (!row) return undefined;
    const key = this.consoleKeys.keyOf({ purpose: 'session', secret: id, keyringId: row.keyring_id });
    const resolved = key && (await this.keys.find(key));
    if (!resolved) {
      await this.dataSource.query('delete from sessions where hash = $1', [row.hash]);
      return undefined;
    }
    if (!row.is_recently_used)
      await this.dataSource.query('update sessions set used_at = now() where hash = $1', [row.hash]);
    const session: Session = {
      hash: row.hash,
      key,
      consoleKeyId: row.console_key_id,
      account: row.account_id,
      accountName: row.account_name,
      role: resolved.role,
      keyId: row.key_id,
      keyName: row.key_name,
      email: row.email,
      viewedBy: null,
      expiresAt: row.expires_at,
    };
    if (!row.viewing_key_id || resolved.role !== 'ADMIN') return session;
    return {
      ...session,
      key: this.consoleKeys.keyOf({
        purpose: 'view',
        secret: `${id}/${row.viewing_key_id}`,
        keyringId: row.keyring_id,
      })!,
      consoleKeyId: row.viewing_key_id,
      account: row.viewed_account_id!,
      accountName: row.viewed_account_name!,
      role: 'USER',
      viewedBy: row.account_id,
    };
  }

  /**
   * Lets an operator see the console as a user of the account does. `refuseWhileViewing` prevents changes.
   * @throws ACCOUNT_NOT_FOUND, SESSION_ENDED
   */
  async view(id: string, operator: Session, account: string): Promise<Session> {
    const { hash, consoleKeyId, expiresAt } = operator;
    const viewingKeyId = randomUUID();
    const [row] = await this.dataSource.query<Row[]>('select keyring_id from sessions where hash = $1', [
      hash,
    ]);
    if (!row) throw new ApiError('SESSION_ENDED');
    const source = {
      purpose: 'view',
      secret: `${id}/${viewingKeyId}`,
      keyringId: row.keyring_id,
    } as const;
    const holder = { keyId: consoleKeyId, viewing: account };
    const { reply } = await this.consoleKeys.open(source, holder, expiresAt, viewingKeyId);
    if (reply.error) throw new ApiError(reply.error);
    await this.setView(hash, { id: reply.account, name: reply.accountName, keyId: viewingKeyId });
    return this.requireSession(id);
  }

  /** Returns to the operator's own console. */
  async endView(id: string, { hash, viewedBy }: Session): Promise<Session> {
    if (viewedBy !== null) await this.setView(hash, null);
    return this.requireSession(id);
  }

  /** Stores the view and closes the previous view's key, or the new one if the session has ended meanwhile. */
  private async setView(
    hash: string,
    viewed: { id: string; name: string; keyId: string } | null,
  ): Promise<void> {
    const [rows] = await this.dataSource.query<[Pick<Row, 'viewing_key_id'>[], number]>(SET_VIEW, [
      hash,
      viewed?.id ?? null,
      viewed?.name ?? null,
      viewed?.keyId ?? null,
    ]);
    const left = rows.length > 0 ? rows[0]!.viewing_key_id : viewed?.keyId;
    await this.consoleKeys.close(left ? [left] : []);
  }

  /** @throws SESSION_ENDED if the session has ended meanwhile */
  private async requireSession(id: string): Promise<Session> {
    const session = await this.find(id);
    if (!session) throw new ApiError('SESSION_ENDED');
    return session;
  }

  async end({ hash, key }: Pick<Session, 'hash' | 'key'>): Promise<void> {
    const [ended] = await this.dataSource.query<[KeyIds[], number]>(
      'delete from sessions where hash = $1 returning console_key_id, viewing_key_id',
      [hash],
    );
    await this.consoleKeys.close(keysOf(ended));
    this.keys.invalidate(hashApiKey(this.env.API_KEY_PEPPER, key));
  }

  private newId(): string {
    const random = randomBytes(HALF_BYTES);
    return Buffer.concat([random, this.macOf(random, this.consoleKeys.keyringId)]).toString('base64url');
  }

  private isOurs(id: string): boolean {
    if (!ID.test(id)) return false;
    const bytes = Buffer.from(id, 'base64url');
    const [random, mac] = [bytes.subarray(0, HALF_BYTES), bytes.subarray(HALF_BYTES)];
    return this.env.SESSION_KEYS.keyIds.some((keyId) => timingSafeEqual(this.macOf(random, keyId), mac));
  }

  private macOf(random: Buffer, keyId: string): Buffer {
    const subkey = this.env.SESSION_KEYS.subkey('session-id', keyId)!;
    return createHmac('sha256', subkey).update(random).digest().subarray(0, HALF_BYTES);
  }

  private async begin(holder: ConsoleKeyHolder): Promise<{ id: string; session: Session }> {
    const id = this.newId();
    const { keyringId } = this.consoleKeys;
    const source = { purpose: 'session', secret: id, keyringId } as const;
    const expiresAt = new Date(Date.now() + MAX_LIFETIME_MS);
    const { id: consoleKeyId, reply } = await this.consoleKeys.open(source, holder, expiresAt);
    if (reply.error) throw new ApiError(reply.error, WRONG_KEY);
    const { account, accountName, role, signedInWith, email } = reply;
    const session: Session = {
      hash: hashOf(id),
      key: this.consoleKeys.keyOf(source)!,
      consoleKeyId,
      account,
      accountName,
      role,
      keyId: signedInWith?.keyId ?? null,
      keyName: signedInWith && (signedInWith.name ?? (signedInWith.last4 && `…${signedInWith.last4}`)),
      email,
      viewedBy: null,
      expiresAt,
    };
    try {
      await this.dataSource.query(
        `insert into sessions
           (hash, console_key_id, keyring_id, account_id, account_name, key_id, key_name, email, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          session.hash,
          consoleKeyId,
          keyringId,
          account,
          accountName,
          session.keyId,
          session.keyName,
          email,
          expiresAt,
        ],
      );
    } catch (error) {
      await this.consoleKeys.close([consoleKeyId]);
      throw error;
    }
    return { id, session };
  }

  /** Deletes expired sessions. */
  async sweep(): Promise<void> {
    const [ended] = await this.dataSource.query<[KeyIds[], number]>(SWEEP);
    await this.consoleKeys.close(keysOf(ended));
  }
}

const WRONG_KEY = 'This key cannot be used to sign in.';
