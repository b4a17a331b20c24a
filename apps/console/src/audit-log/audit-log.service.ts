import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, KeysetPaginator, type ListQuery, type Page } from '@perkway/platform';
import type { Logger } from 'pino';
import { DataSource, type EntityManager } from 'typeorm';
import { nameOf, type Session } from '../sessions/session.js';
import type { AuditEntry } from './audit-entry.dto.js';

/** A change about to be made. */
export interface Change {
  /** HTTP method of the call. */
  action: string;
  /** The called host; `console` for changes in the console itself. */
  host: string;
  path: string;
  before: unknown;
}

/** Members that hold secrets, at any depth. */
const SECRETS = /^(?:key|api_?key|token|reward_link|codes?|pin|pins|secret|coupon)$/i;

/** Members that identify recipients. Log rows are permanent, so an erasure could not remove them later. */
const PERSONAL = /^(?:journey_?id|customer_?id|references?)$/i;

/** Removes secrets and the identifiers of recipients. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !SECRETS.test(name) && !PERSONAL.test(name))
      .map(([name, member]) => [
        name,
        name.toLowerCase() === 'url' ? originOf(member) : withoutSecrets(member),
      ]),
  );
}

/** Where a URL leads; the rest of it may be a secret. */
const originOf = (url: unknown): string | null =>
  typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : null;

interface Row extends Omit<AuditEntry, 'at'> {
  at: Date;
}

/**
 * Records changes. An entry is written before the change and its outcome after it; a trigger rejects updates and
 * deletes. An entry without an outcome means that it is unknown whether the change was made.
 */
@Injectable()
export class AuditLog {
  constructor(
    private readonly dataSource: DataSource,
    private readonly pages: KeysetPaginator,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Writes the entry, makes the change, and writes its outcome. If the entry cannot be written, the change is not made.
   */
  async record<T>(
    session: Session,
    { action, host, path, before }: Change,
    make: () => Promise<T>,
    outcomeOf: (made: T) => { status: number; after: unknown },
  ): Promise<T> {
    const { account, role, keyId, email } = session;
    const [{ id }] = await this.dataSource.query<[{ id: string }]>(
      `insert into audit_entries (account_id, role, key_id, email, actor, action, host, path, before)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
      [
        account,
        role,
        keyId,
        email,
        nameOf(session),
        action,
        host,
        path,
        JSON.stringify(withoutSecrets(before ?? null)),
      ],
    );
    const made = await make();
    const { status, after } = outcomeOf(made);
    await this.dataSource
      .query('insert into audit_outcomes (entry_id, status, after) values ($1, $2, $3)', [
        id,
        status,
        JSON.stringify(withoutSecrets(after ?? null)),
      ])
      .catch((err: unknown) =>
        this.logger.error({ err, entry: id }, 'could not write the outcome of a change to the audit log'),
      );
    return made;
  }

  /** Records a change that the console made by itself, in the transaction of the change. */
  async recordOwn(
    manager: EntityManager,
    account: string,
    { action, host, path, before }: Change,
    after: unknown,
  ): Promise<void> {
    await manager.query(
      `with entry as (
         insert into audit_entries (account_id, role, actor, action, host, path, before)
         values ($1, 'USER', 'console', $2, $3, $4, $5) returning id
       )
       insert into audit_outcomes (entry_id, status, after) select id, 200, $6 from entry`,
      [account, action, host, path, JSON.stringify(before), JSON.stringify(after)],
    );
  }

  /** Lists entries, newest first: all for an operator, otherwise those of the account's USER sessions. */
  async list({ account, role }: Session, query: ListQuery): Promise<Page<AuditEntry>> {
    const page = this.pages.request<[id: string]>({ name: 'audit-log' }, query, account);
    const rows = await this.dataSource.query<Row[]>(
      `select e.id, e.at, e.account_id, e.key_id, e.email as person, e.actor, e.action, e.host, e.path, o.status,
         e.before, o.after
       from audit_entries e left join audit_outcomes o on o.entry_id = e.id
       where ($1::text is null or (e.account_id = $1 and e.role <> 'ADMIN')) and ($2::bigint is null or e.id < $2)
       order by e.id desc limit $3`,
      [role === 'ADMIN' ? null : account, page.after?.[0] ?? null, page.rows],
    );
    return page.respond(
      rows,
      ({ id }) => [id],
      (row) => ({ ...row, at: row.at.toISOString() }),
    );
  }
}
