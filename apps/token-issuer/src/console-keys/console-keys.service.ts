import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { KeyStore } from '@perkway/auth';
import type { ConsoleKeyHolder, ConsoleKeyReply, OpenConsoleKey, Role } from '@perkway/domain';
import { Any, IsNull, Repository, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { ApiKeyEntity } from '../keys/api-key.entity.js';
import { foldEmail } from '../people/fold-email.js';
import { Turns } from './turns.js';

/** Who a key of the console stands for. */
interface Holder {
  account_id: string;
  role: Role;
  parent_id: string | null;
  person_email: string | null;
}

const BY_KEY = `
  select account_id, role, id as parent_id, null as person_email from api_keys
  where hash = $1 and revoked_at is null and not is_console and role <> 'JOURNEY'`;
const BY_PERSON = `
  select account_id, role, null as parent_id, email as person_email from people
  where email = $1 and ($2::text is null or account_id = $2) order by account_id limit 1`;
const BY_CONSOLE_KEY = `
  select account_id, role, parent_id, person_email from api_keys
  where id = $1 and is_console and revoked_at is null and expires_at > now()`;

/** The locks let nobody take the right away before the new key is there to be found by whoever takes it. */
const KEY_HOLDS = 'select 1 from api_keys where id = $1 and revoked_at is null for no key update';
const PERSON_HOLDS = 'select 1 from people where account_id = $1 and email = $2 and role = $3 for share';

const INSERT = `
  insert into api_keys (id, account_id, role, name, hash, is_console, expires_at, parent_id, person_email)
  values ($1, $2, $3, 'console', $4, true, to_timestamp($5 / 1000.0), $6, $7) on conflict (id) do nothing`;

/** A use of the key in this minute; those who write it more often take the lock of its row for nothing. */
const USED = `
  update api_keys set last_used_at = date_trunc('minute', now())
  where id = $1 and (last_used_at is null or last_used_at < date_trunc('minute', now()))`;

const DESCRIBE = `
  select a.name as "accountName", k.name, k.last4 from accounts a left join api_keys k on k.id = $2 where a.id = $1`;

/** Nobody asks about a key that ended so long ago. */
const FORGET = `
  delete from api_keys where id in (
    select id from api_keys where is_console and expires_at < now() - interval '1 day' limit 100 for update skip locked)`;

/** The keys behind the sessions and jobs of the console. Their right is that of a key or of a person, and ends with it. */
@Injectable()
export class ConsoleKeysService {
  private readonly turns = new Turns();

  constructor(
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    private readonly store: KeyStore,
  ) {}

  /** The lock of a key is taken by one sign-in at a time anyway. */
  open(request: OpenConsoleKey): Promise<ConsoleKeyReply> {
    return this.turns.take(JSON.stringify(request.for), () => this.openNow(request));
  }

  private async openNow({ id, hash, expiresAt, for: wanted }: OpenConsoleKey): Promise<ConsoleKeyReply> {
    const reply = await this.keys.manager.transaction(async (manager): Promise<ConsoleKeyReply> => {
      await manager.query(FORGET);
      const holder = await holderOf(manager, wanted);
      if (!holder) return { error: 'API_KEY_INVALID' };
      const { account_id: account, role, parent_id, person_email: email } = holder;
      await manager.query(INSERT, [id, account, role, hash, expiresAt, parent_id, email]);
      if (parent_id) await manager.query(USED, [parent_id]);
      const [{ accountName, name, last4 }] = await manager.query(DESCRIBE, [account, parent_id]);
      return {
        account,
        accountName,
        role,
        signedInWith: parent_id === null ? null : { keyId: parent_id, name, last4 },
        email,
      };
    });
    this.store.invalidate(hash);
    return reply;
  }

  async close(ids: string[]): Promise<void> {
    await this.revokeFor({ id: Any(ids) });
  }

  /** Ends those that these say: at once here, within 5 s in every app. */
  async revokeFor(which: FindOptionsWhere<ApiKeyEntity>): Promise<void> {
    const valid = { ...which, is_console: true, revoked_at: IsNull() };
    const ended = await this.keys.find({ select: { id: true, hash: true }, where: valid });
    if (ended.length === 0) return;
    await this.keys.update({ id: Any(ended.map(({ id }) => id)) }, { revoked_at: () => 'now()' });
    for (const { hash } of ended) this.store.invalidate(hash);
  }
}

async function holderOf(manager: EntityManager, wanted: ConsoleKeyHolder): Promise<Holder | undefined> {
  const rows: Holder[] =
    'keyHash' in wanted
      ? await manager.query(BY_KEY, [wanted.keyHash])
      : 'email' in wanted
        ? await manager.query(BY_PERSON, [foldEmail(wanted.email), wanted.account ?? null])
        : await manager.query(BY_CONSOLE_KEY, [wanted.keyId]);
  const [holder] = rows;
  if (!holder) return undefined;
  const { account_id, role, parent_id, person_email } = holder;
  const holds: unknown[] = parent_id
    ? await manager.query(KEY_HOLDS, [parent_id])
    : await manager.query(PERSON_HOLDS, [account_id, person_email, role]);
  return holds.length > 0 ? holder : undefined;
}
