import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { KeyStore } from '@perkway/auth';
import type {
  AddAccountKey,
  ConsoleKeyHolder,
  ConsoleKeyReply,
  OpenConsoleKey,
  Role,
  Scope,
} from '@perkway/domain';
import { Any, IsNull, Repository, type EntityManager, type FindOptionsWhere } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { ApiKeyEntity } from '../keys/api-key.entity.js';
import { foldEmail } from '../people/fold-email.js';
import { KeyedMutex } from './keyed-mutex.js';

/** The account and role that a console key gets. */
interface Holder {
  account_id: string;
  role: Role;
  parent_id: string | null;
  person_email: string | null;
  counted_as: string | null;
}

/** A key with scopes may not sign in, because a session can create keys without scopes. */
const BY_KEY = `
  select account_id, role, id as parent_id, null as person_email, coalesce(counted_as, id) as counted_as from api_keys
  where hash = $1 and revoked_at is null and not is_console and role <> 'JOURNEY' and scopes is null`;
const BY_PERSON = `
  select account_id, role, null as parent_id, email as person_email, null as counted_as from people
  where email = $1 and ($2::text is null or account_id = $2) order by account_id limit 1`;
/** Without scopes, because an operator who views an account must not make keys of it. */
const BY_CONSOLE_KEY = `
  select account_id, role, parent_id, person_email, counted_as from api_keys
  where id = $1 and is_console and revoked_at is null and expires_at > now() and scopes is null`;

/**
 * Locks the key or person, so that a concurrent revocation waits until the new console key is visible and then revokes
 * it too.
 */
const KEY_HOLDS = `
  select expires_at from api_keys
  where id = $1 and revoked_at is null and (expires_at is null or expires_at > now()) for no key update`;
const PERSON_HOLDS =
  'select null as expires_at from people where account_id = $1 and email = $2 and role = $3 for share';

/** A session's own end does not count: the access that it gives may last as long as the key that signed in. */
const ENDS_AT = `
  select case when k.is_console then p.expires_at else k.expires_at end as ends_at
  from api_keys k left join api_keys p on p.id = k.parent_id
  where k.id = $1 and (k.account_id = $2 or $3 = 'ADMIN')`;

const INSERT = `
  insert into api_keys
    (id, account_id, role, name, hash, is_console, expires_at, parent_id, person_email, counted_as, scopes)
  values ($1, $2, $3, 'console', $4, true, least(to_timestamp($5 / 1000.0), $6), $7, $8, $9, $10)
  on conflict (id) do nothing`;
/**
 * Scopes of an operator who views an account. Reading campaigns and webhooks needs scopes that also write; the console
 * blocks changes.
 */
const VIEWED: readonly Scope[] = [
  'perks:read',
  'journeys:write',
  'links:read',
  'pools:read',
  'analytics:read',
  'events:read',
  'webhooks:write',
];

const INSERT_OWN = `
  insert into api_keys (id, account_id, role, name, hash, last4, scopes, expires_at, person_email)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict do nothing`;

/** Records the use, at most once a minute, to avoid needless row locks. */
const USED = `
  update api_keys set last_used_at = date_trunc('minute', now())
  where id = $1 and (last_used_at is null or last_used_at < date_trunc('minute', now()))`;

const DESCRIBE = `
  select a.name as "accountName", a.approvals, k.name, k.last4, k.person_email as "keyMaker"
  from accounts a left join api_keys k on k.id = $2 where a.id = $1`;

/** Deletes console keys that expired more than a day ago. */
const FORGET = `
  delete from api_keys where id in (
    select id from api_keys where is_console and expires_at < now() - interval '1 day' limit 100 for update skip locked)`;

/**
 * Manages the keys behind the console's sessions and jobs. Each has the rights of an API key or a person, and ends with
 * it.
 */
@Injectable()
export class ConsoleKeysService {
  private readonly mutex = new KeyedMutex();

  constructor(
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    private readonly store: KeyStore,
  ) {}

  /**
   * Opens a key. Sign-ins with the same API key run one after the other, because they need the same row lock anyway.
   */
  open(request: OpenConsoleKey): Promise<ConsoleKeyReply> {
    return this.mutex.run(JSON.stringify(request.for), () => this.openNow(request));
  }

  private async openNow({ id, hash, expiresAt, for: wanted }: OpenConsoleKey): Promise<ConsoleKeyReply> {
    const reply = await this.keys.manager.transaction(async (manager): Promise<ConsoleKeyReply> => {
      await manager.query(FORGET);
      const holder = await holderOf(manager, wanted);
      const viewed = 'viewing' in wanted ? wanted.viewing : undefined;
      if (!holder || (viewed !== undefined && holder.role !== 'ADMIN')) return { error: 'API_KEY_INVALID' };
      if (viewed !== undefined && !(await manager.existsBy(AccountEntity, { id: viewed })))
        return { error: 'ACCOUNT_NOT_FOUND' };
      const { parent_id, person_email: email, expires_at, counted_as } = holder;
      const { account_id: account, role }: Pick<Holder, 'account_id' | 'role'> =
        viewed === undefined ? holder : { account_id: viewed, role: 'USER' };
      await manager.query(INSERT, [
        ...[id, account, role, hash],
        ...[expiresAt, expires_at, parent_id, email, counted_as, viewed === undefined ? null : VIEWED],
      ]);
      if (parent_id) await manager.query(USED, [parent_id]);
      const [{ accountName, approvals, name, last4, keyMaker }] = await manager.query(DESCRIBE, [
        account,
        parent_id,
      ]);
      return {
        account,
        accountName,
        role,
        signedInWith: parent_id === null ? null : { keyId: parent_id, name, last4 },
        email,
        keyMaker,
        approvals,
      };
    });
    this.store.invalidate(hash);
    return reply;
  }

  /** Adds a key that a console session created for its account. @returns whether the session's rights allow it */
  addFor(request: AddAccountKey): Promise<boolean> {
    const { account, consoleKeyId, id, hash, last4, role, name, scopes, expiresAt } = request;
    return this.keys.manager.transaction(async (manager) => {
      const holder = await makerOf(manager, consoleKeyId);
      if (holder?.account_id !== account || (role === 'ADMIN' && holder.role !== 'ADMIN')) return false;
      const endsAt = await latestEnd(manager, consoleKeyId, { account_id: account, role });
      await manager.query(INSERT_OWN, [
        ...[id, account, role, name, hash, last4, scopes ?? null],
        ...[earlier(expiresAt ? new Date(expiresAt) : null, endsAt), holder.person_email],
      ]);
      return true;
    });
  }

  async close(ids: string[]): Promise<void> {
    await this.revokeFor({ id: Any(ids) });
  }

  /** Revokes the matching console keys: at once here, within 5 s in every app. */
  async revokeFor(which: FindOptionsWhere<ApiKeyEntity>): Promise<void> {
    await this.revoke({ ...which, is_console: true });
  }

  /**
   * Revokes the keys of these roles that a person made in the console, and ends the sessions that those keys opened.
   */
  async revokeMadeBy(account: string, email: string, roles: Role[]): Promise<void> {
    const made = { account_id: account, person_email: email, role: Any(roles), is_console: false };
    // Repeats, because a revocation waits for transactions that create keys with the revoked ones, and only the next
    // lookup finds the new keys.
    let revoked: string[];
    do {
      revoked = await this.revoke(made);
      // Ends the sessions of all of the person's keys, including keys that an interrupted call has revoked.
      const all = await this.keys.find({ select: { id: true }, where: made });
      await this.revokeFor({ parent_id: Any(all.map(({ id }) => id)) });
    } while (revoked.length > 0);
  }

  private async revoke(which: FindOptionsWhere<ApiKeyEntity>): Promise<string[]> {
    const valid = { ...which, revoked_at: IsNull() };
    const found = await this.keys.find({ select: { id: true, hash: true }, where: valid });
    const ids = found.map(({ id }) => id);
    if (ids.length > 0) await this.keys.update({ id: Any(ids) }, { revoked_at: () => 'now()' });
    for (const { hash } of found) this.store.invalidate(hash);
    return ids;
  }
}

/**
 * Returns when access that a key gives to another key or to a person must end, because it must not outlive the giver.
 * Null if there is no such limit, as for USER keys and people of other accounts.
 */
export async function latestEnd(
  manager: EntityManager,
  makerKeyId: string,
  { account_id, role }: Pick<Holder, 'account_id' | 'role'>,
): Promise<Date | null> {
  const [maker] = await manager.query<{ ends_at: Date | null }[]>(ENDS_AT, [makerKeyId, account_id, role]);
  return maker?.ends_at ?? null;
}

/** @param one, other null for never */
export const earlier = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one < other ? one : other) : (one ?? other);

/**
 * Returns the holder of a session that makes a key. A key made with another key that a person made belongs to that
 * person too.
 */
export async function makerOf(manager: EntityManager, consoleKeyId: string): Promise<Holder | undefined> {
  const holder = await holderOf(manager, { keyId: consoleKeyId });
  if (!holder?.parent_id) return holder;
  const parent = await manager.findOneByOrFail(ApiKeyEntity, { id: holder.parent_id });
  return { ...holder, person_email: parent.person_email };
}

async function holderOf(
  manager: EntityManager,
  wanted: ConsoleKeyHolder,
): Promise<(Holder & { expires_at: Date | null }) | undefined> {
  const rows: Holder[] =
    'keyHash' in wanted
      ? await manager.query(BY_KEY, [wanted.keyHash])
      : 'email' in wanted
        ? await manager.query(BY_PERSON, [foldEmail(wanted.email), wanted.account ?? null])
        : await manager.query(BY_CONSOLE_KEY, [wanted.keyId]);
  const [holder] = rows;
  if (!holder) return undefined;
  const { account_id, role, parent_id, person_email } = holder;
  const [held]: { expires_at: Date | null }[] = parent_id
    ? await manager.query(KEY_HOLDS, [parent_id])
    : await manager.query(PERSON_HOLDS, [account_id, person_email, role]);
  return held && { ...holder, ...held };
}
