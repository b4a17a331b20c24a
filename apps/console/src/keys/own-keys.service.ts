import { Inject, Injectable } from '@nestjs/common';
import {
  DEFAULT_OVERLAP_S,
  generateApiKey,
  hashApiKey,
  type CreatedApiKey,
  type NewApiKeyDto,
  type RotateApiKeyDto,
} from '@perkway/auth';
import {
  ADD_ACCOUNT_KEY,
  ApiError,
  LIST_ACCOUNT_KEYS,
  REVOKE_ACCOUNT_KEY,
  ROTATE_ACCOUNT_KEY,
  type AccountKey,
} from '@perkway/domain';
import { ENV, RpcClient } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import { AuditLog } from '../audit-log/audit-log.service.js';
import type { ConsoleEnv } from '../env.js';
import type { Session } from '../sessions/session.js';

const CANNOT_ROTATE =
  'The key you signed in with has lost access, or expires before this one. Sign in with a key that lasts as long.';

/** Manages the keys of the signed-in account, whose people cannot use the management API for that. */
@Injectable()
export class OwnKeysService {
  constructor(
    private readonly rpc: RpcClient,
    private readonly log: AuditLog,
    @Inject(ENV) private readonly env: ConsoleEnv,
  ) {}

  /** Hides ADMIN keys from USER sessions. */
  async list({ account, role }: Session): Promise<AccountKey[]> {
    const { keys } = await this.rpc.request(LIST_ACCOUNT_KEYS, { account });
    return role === 'ADMIN' ? keys : keys.filter((key) => key.role !== 'ADMIN');
  }

  /** @throws FORBIDDEN for a role above the session's own, and after the session's key or person has lost access */
  async create(session: Session, body: NewApiKeyDto): Promise<CreatedApiKey> {
    const { role, name = null, scopes, expires_at: expiresAt } = body;
    const { account } = session;
    if (role === 'ADMIN' && session.role !== 'ADMIN') throw new ApiError('FORBIDDEN');
    const { key, ...added } = this.newKey();
    const request = {
      account,
      consoleKeyId: session.consoleKeyId,
      ...added,
      role,
      name,
      scopes,
      expiresAt,
    };
    const made = await this.log.record(
      session,
      { action: 'POST', host: 'token', path: `/accounts/${account}/keys`, before: null },
      () => this.rpc.request(ADD_ACCOUNT_KEY, request),
      (reply) => ('error' in reply ? { status: 403, after: null } : { status: 201, after: reply.key }),
    );
    if ('error' in made) throw new ApiError(made.error);
    return { ...made.key, key };
  }

  /**
   * Replaces a key by a new one of the same kind.
   *
   * @throws FORBIDDEN after the session's key or person has lost access, and for a key that outlives the session's key
   * @throws KEY_NOT_FOUND, also for a key of another account or above the session's role
   * @throws KEY_ROTATED, KEY_EXPIRED
   */
  async rotate(
    session: Session,
    keyId: string,
    { overlap_seconds }: RotateApiKeyDto,
  ): Promise<CreatedApiKey> {
    const { account, consoleKeyId } = session;
    const before = await this.find(session, keyId);
    const { key, ...added } = this.newKey();
    const overlapSeconds = overlap_seconds ?? DEFAULT_OVERLAP_S;
    const made = await this.log.record(
      session,
      { action: 'POST', host: 'token', path: `/accounts/${account}/keys/${keyId}/rotate`, before },
      () => this.rpc.request(ROTATE_ACCOUNT_KEY, { account, consoleKeyId, keyId, ...added, overlapSeconds }),
      (reply) =>
        'error' in reply
          ? { status: new ApiError(reply.error).status, after: null }
          : { status: 201, after: reply.key },
    );
    if ('error' in made)
      throw new ApiError(made.error, made.error === 'FORBIDDEN' ? CANNOT_ROTATE : undefined);
    return { ...made.key, key };
  }

  /** @throws KEY_NOT_FOUND, also for a key of another account or above the session's role */
  async revoke(session: Session, keyId: string): Promise<void> {
    const { account } = session;
    const before = await this.find(session, keyId);
    const reply = await this.log.record(
      session,
      { action: 'DELETE', host: 'token', path: `/accounts/${account}/keys/${keyId}`, before },
      () => this.rpc.request(REVOKE_ACCOUNT_KEY, { account, keyId }),
      (response) =>
        'error' in response ? { status: 404, after: null } : { status: 204, after: response.key },
    );
    if ('error' in reply) throw new ApiError(reply.error);
  }

  private async find(session: Session, keyId: string): Promise<AccountKey> {
    const key = (await this.list(session)).find(({ id }) => id === keyId);
    if (!key) throw new ApiError('KEY_NOT_FOUND');
    return key;
  }

  /** Returns a new key, with the members that token-issuer stores. */
  private newKey() {
    const key = generateApiKey();
    return {
      key,
      id: randomUUID(),
      last4: key.slice(-4),
      hash: hashApiKey(this.env.API_KEY_PEPPER, key),
    };
  }
}
