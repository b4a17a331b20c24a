import { Inject, Injectable } from '@nestjs/common';
import { REPORTING } from '@perkway/domain';
import { LOGGER, Loops } from '@perkway/platform';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 5_000;
/** Leaves time for the role's own statement timeout to act first. */
const LIMIT_MS = REPORTING.statementTimeoutMs + INTERVAL_MS;

/**
 * Ends sessions of reporting roles that do what Postgres lets every role do: exceed the time limit (a role can lift its
 * own), hold advisory locks (which could block ingest), or connect to another database.
 */
@Injectable()
export class ReportingGuard {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
    loops: Loops,
  ) {
    const run = async () => void (await this.endSessions());
    loops.add({ task: 'check the reporting roles', everyMs: INTERVAL_MS, run });
  }

  /** @returns the number of ended sessions */
  async endSessions(limitMs = LIMIT_MS): Promise<number> {
    const [{ ended }] = await this.dataSource.query<[{ ended: number }]>(
      // Only roles whose sessions the app may end.
      `select count(pg_terminate_backend(s.pid))::int as ended
       from pg_stat_activity s join pg_auth_members m on m.member = s.usesysid
       where m.roleid = to_regrole($1) and pg_has_role(s.usesysid, 'usage')
         and (s.datname <> current_database() or s.xact_start < clock_timestamp() - $2 * interval '1 ms'
           or exists (select from pg_locks l where l.pid = s.pid and l.locktype = 'advisory'))`,
      [REPORTING.group, limitMs],
    );
    if (ended > 0) this.logger.warn({ ended }, 'ended sessions of reporting roles');
    return ended;
  }
}
