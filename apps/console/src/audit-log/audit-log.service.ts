import { Inject, Injectable } from '@nestjs/common';
import { withoutSecrets, type AdminLogRecord } from '@perkway/domain';
import { LOGGER, KeysetPaginator, type ListQuery, type Page } from '@perkway/platform';
import type { Logger } from 'pino';
import { DataSource, type EntityManager } from 'typeorm';
import { nameOf, type Session } from '../sessions/session.js';
import type { AuditEntry } from './audit-entry.dto.js';
import { conditionsOf, readFilters, type AuditFilters } from './audit-filters.js';

/** A change about to be made. */
export interface Change {
  /** HTTP method of the call. */
  action: string;
  /** The called host; `console` for changes in the console itself. */
  host: string;
  path: string;
  before: unknown;
}

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
    change: () => Promise<T>,
    outcomeOf: (result: T) => { status: number; after: unknown },
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
    const result = await change();
    const { status, after } = outcomeOf(result);
    await this.dataSource
      .query('insert into audit_outcomes (entry_id, status, after) values ($1, $2, $3)', [
        id,
        status,
        JSON.stringify(withoutSecrets(after ?? null)),
      ])
      .catch((err: unknown) =>
        this.logger.error({ err, entry: id }, 'could not write the outcome of a change to the audit log'),
      );
    return result;
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

  /** Stores an app's record of a management call that was made with an API key. Idempotent. */
  async store(record: AdminLogRecord): Promise<void> {
    if ('status' in record) {
      const { id, at, status, after } = record;
      await this.dataSource.query(
        `insert into audit_outcomes (entry_id, at, status, after)
         select id, $2, $3, $4 from audit_entries where source_id = $1 on conflict do nothing`,
        [id, at, status, JSON.stringify(after)],
      );
      return;
    }
    const { id, at, account, role, keyId, keyName, action, host, path, before } = record;
    await this.dataSource.query(
      `insert into audit_entries (source_id, at, account_id, role, key_id, actor, action, host, path, before)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (source_id) do nothing`,
      [id, at, account, role, keyId, keyName ?? `key ${keyId}`, action, host, path, JSON.stringify(before)],
    );
  }

  /**
   * Lists entries, newest first: all for an operator, otherwise the account's entries that do not have the role ADMIN.
   * @throws VALIDATION_FAILED
   */
  async list(session: Session, query: ListQuery): Promise<Page<AuditEntry>> {
    const page = this.pages.request<[id: string]>({ name: 'audit-log' }, query, session.account);
    const where = conditionsOf(readFilters(query), readerOf(session));
    if (page.after) where.and`e.id < ${page.after[0]}`;
    const rows = await this.dataSource.query<Row[]>(
      `${SELECT} where ${where} order by e.id desc limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.respond(rows, ({ id }) => [id], toEntry);
  }

  /** Yields entries as lines of JSON, in the order in which they were stored. */
  async *export(session: Session, filters: AuditFilters): AsyncGenerator<string> {
    let rows: Row[] = [];
    do {
      const where = conditionsOf(filters, readerOf(session)).after('e.id', rows.at(-1)?.id ?? 0);
      rows = await this.dataSource.query<Row[]>(
        `${SELECT} where ${where} order by e.id limit ${where.bind(ENTRIES_PER_BATCH)}`,
        where.parameters,
      );
      for (const row of rows) yield `${JSON.stringify(toEntry(row))}\n`;
    } while (rows.length === ENTRIES_PER_BATCH);
  }
}

const ENTRIES_PER_BATCH = 500;
/** The view `audit_calls` is `audit_entries` with the kind and id of the called resource. */
const SELECT = `
  select e.id, e.at, e.account_id, e.key_id, e.email as person, e.actor, e.action, e.host, e.path, o.status, e.before, o.after
  from audit_calls e left join audit_outcomes o on o.entry_id = e.id`;
/** Null for an operator, who reads all entries. */
const readerOf = ({ account, role }: Session): string | null => (role === 'ADMIN' ? null : account);
const toEntry = (row: Row): AuditEntry => ({ ...row, at: row.at.toISOString() });
