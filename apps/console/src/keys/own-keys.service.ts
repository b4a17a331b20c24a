import { Inject, Injectable } from '@nestjs/common';
import { generateApiKey, hashApiKey } from '@perkway/auth';
import {
  ADD_ACCOUNT_KEY,
  ApiError,
  LIST_ACCOUNT_KEYS,
  REVOKE_ACCOUNT_KEY,
  type AccountKey,
} from '@perkway/domain';
import { ENV, RpcClient } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import { AuditLog } from '../audit-log/audit-log.service.js';
import type { ConsoleEnv } from '../env.js';
import type { Session } from '../sessions/session.js';
import type { CreatedKeyDto, CreateKeyDto } from './own-key.dto.js';

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
  async create(session: Session, { role, name = null }: CreateKeyDto): Promise<CreatedKeyDto> {
    const { account } = session;
    if (role === 'ADMIN' && session.role !== 'ADMIN') throw new ApiError('FORBIDDEN');
    const key = generateApiKey();
    const request = {
      account,
      consoleKeyId: session.consoleKeyId,
      id: randomUUID(),
      hash: hashApiKey(this.env.API_KEY_PEPPER, key),
      last4: key.slice(-4),
      role,
      name,
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

  /** @throws KEY_NOT_FOUND, also for a key of another account or above the session's role */
  async revoke(session: Session, keyId: string): Promise<void> {
    const { account } = session;
    const before = (await this.list(session)).find(({ id }) => id === keyId);
    if (!before) throw new ApiError('KEY_NOT_FOUND');
    const reply = await this.log.record(
      session,
      { action: 'DELETE', host: 'token', path: `/accounts/${account}/keys/${keyId}`, before },
      () => this.rpc.request(REVOKE_ACCOUNT_KEY, { account, keyId }),
      (response) =>
        'error' in response ? { status: 404, after: null } : { status: 204, after: response.key },
    );
    if ('error' in reply) throw new ApiError(reply.error);
  }
}
