import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, Pages, type ListQuery, type Page } from '@perkway/platform';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { nameOf, type Session } from '../sessions/session.js';
import type { AuditEntry } from './audit-entry.dto.js';

/** A change that somebody is about to make. */
export interface Change {
  /** The method of the call. */
  action: string;
  /** The host that is called; `console` for what the console does itself. */
  host: string;
  path: string;
  before: unknown;
}

/** What no row may hold, whatever it is called in. */
const SECRETS = /^(?:key|api_?key|token|reward_link|codes?|pin|pins|secret|url|coupon)$/i;

/** Whom something was made for: the log is for ever, and nobody could be erased from it. */
const PERSONAL = /^(?:journey_?id|customer_?id|references?)$/i;

/** Without what would let whoever reads the log do something, and without recipients. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !SECRETS.test(name) && !PERSONAL.test(name))
      .map(([name, member]) => [name, withoutSecrets(member)]),
  );
}

interface Row extends Omit<AuditEntry, 'at'> {
  at: Date;
}

/**
 * Who changed what. An entry is written before the change and its outcome after it, both for good: the database lets nobody
 * change or delete a row. One without an outcome tells that nobody knows whether the change was made.
 */
@Injectable()
export class AuditLog {
  constructor(
    private readonly dataSource: DataSource,
    private readonly pages: Pages,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Writes down the change, makes it, and writes down what became of it. No change is made that cannot be written down. */
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
        this.logger.error({ err, entry: id }, 'the outcome of a change was not written down'),
      );
    return made;
  }

  /** The latest first: all of them for an operator, those of the account for its people. */
  async list({ account, role }: Session, query: ListQuery): Promise<Page<AuditEntry>> {
    const page = this.pages.ask<[id: string]>({ name: 'audit-log' }, query, account);
    const rows = await this.dataSource.query<Row[]>(
      `select e.id, e.at, e.account_id, e.key_id, e.email as person, e.actor, e.action, e.host, e.path, o.status,
         e.before, o.after
       from audit_entries e left join audit_outcomes o on o.entry_id = e.id
       where ($1::text is null or e.account_id = $1) and ($2::bigint is null or e.id < $2)
       order by e.id desc limit $3`,
      [role === 'ADMIN' ? null : account, page.after?.[0] ?? null, page.rows],
    );
    return page.answer(
      rows,
      ({ id }) => [id],
      (row) => ({ ...row, at: row.at.toISOString() }),
    );
  }
}
