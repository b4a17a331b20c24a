import { Inject, Injectable } from '@nestjs/common';
import { generateApiKey, hashApiKey } from '@perkway/auth';
import {
  ADD_ACCOUNT_KEY,
  DomainError,
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

/** The keys of the account that is signed in; no management call reaches them for its own people. */
@Injectable()
export class OwnKeysService {
  constructor(
    private readonly rpc: RpcClient,
    private readonly log: AuditLog,
    @Inject(ENV) private readonly env: ConsoleEnv,
  ) {}

  async list({ account }: Session): Promise<AccountKey[]> {
    return (await this.rpc.ask(LIST_ACCOUNT_KEYS, { account })).keys;
  }

  /** @throws FORBIDDEN for a key that may more than who makes it */
  async create(session: Session, { role, name = null }: CreateKeyDto): Promise<CreatedKeyDto> {
    const { account } = session;
    if (role === 'ADMIN' && session.role !== 'ADMIN') throw new DomainError('FORBIDDEN');
    const key = generateApiKey();
    const request = {
      account,
      id: randomUUID(),
      hash: hashApiKey(this.env.API_KEY_PEPPER, key),
      last4: key.slice(-4),
      role,
      name,
    };
    const made = await this.log.record(
      session,
      { action: 'POST', host: 'token', path: `/accounts/${account}/keys`, before: null },
      async () => (await this.rpc.ask(ADD_ACCOUNT_KEY, request)).key,
      (after) => ({ status: 201, after }),
    );
    return { ...made, key };
  }

  /** @throws KEY_NOT_FOUND, also for a key of another account */
  async revoke(session: Session, keyId: string): Promise<void> {
    const { account } = session;
    const before = (await this.list(session)).find(({ id }) => id === keyId);
    if (!before) throw new DomainError('KEY_NOT_FOUND');
    const reply = await this.log.record(
      session,
      { action: 'DELETE', host: 'token', path: `/accounts/${account}/keys/${keyId}`, before },
      () => this.rpc.ask(REVOKE_ACCOUNT_KEY, { account, keyId }),
      (answer) => ('error' in answer ? { status: 404, after: null } : { status: 204, after: answer.key }),
    );
    if ('error' in reply) throw new DomainError(reply.error);
  }
}
