import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LOGGER } from '@perkway/platform';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { FleetClients } from '../fleet/fleet-clients.js';
import { ConsoleKeys } from '../sessions/console-keys.js';
import { inTurns, makeLink, type JobRow, type LinkRequest, type Made } from './link-requests.js';

const LOOK_MS = 1_000;
/** Between two turns of a job others have theirs. */
const ROWS_OF_A_TURN = 100;

/** A turn takes less; the job of a replica that has died goes on after this. */
const TAKE = `
  update link_jobs set leased_until = now() + interval '60 seconds', turn_at = now() where id = (
    select id from link_jobs where state = 'running' and leased_until <= now()
    order by turn_at limit 1 for update skip locked
  ) returning id, request, key_secret, keyring_id, console_key_id, created_by`;
const OPEN_ROWS = `
  select row, reference from link_job_rows where job_id = $1 and link_id is null order by row limit ${ROWS_OF_A_TURN}`;
const NOTE = `
  update link_job_rows r set link_id = n.link_id, refused = n.refused
  from unnest($2::integer[], $3::uuid[], $4::text[]) as n(row, link_id, refused)
  where r.job_id = $1 and r.row = n.row`;
/** A job that was stopped meanwhile stays so. */
const END_TURN = `
  update link_jobs set leased_until = now() + $2::interval, refused = coalesce($3, refused),
    state = case when state <> 'running' then state when $3::text is not null then 'failed'
      when exists (select from link_job_rows where job_id = $1 and link_id is null) then 'running' else 'done' end
  where id = $1 returning state`;

interface Taken {
  id: string;
  request: LinkRequest;
  key_secret: string;
  keyring_id: string;
  console_key_id: string;
  created_by: string;
}

/**
 * Works on the jobs, on every replica, a turn of each at a time. Whatever ends it in between, another turn makes what is
 * missing: a link that was made and not noted is answered again by its idempotency key.
 */
@Injectable()
export class LinkJobRunner implements OnModuleInit, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;
  private isClosing = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: ConsoleKeys,
    private readonly clients: FleetClients,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Ends the turn that is under way; it is short. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.timer);
    await this.working;
  }

  /** Works until there is nothing to do, if it does not already. */
  look(): void {
    if (this.isClosing) return;
    this.working ??= this.work().finally(() => (this.working = undefined));
  }

  private async work(): Promise<void> {
    try {
      while (!this.isClosing && (await this.turn()));
    } catch (err) {
      this.logger.debug({ err }, 'jobs wait');
    }
  }

  /** False when no job wants anything. */
  private async turn(): Promise<boolean> {
    const [[job]] = await this.dataSource.query<[Taken[], number]>(TAKE);
    if (!job) return false;
    const rows = await this.dataSource.query<JobRow[]>(OPEN_ROWS, [job.id]);
    const source = { purpose: 'job', secret: job.key_secret, keyringId: job.keyring_id } as const;
    const key = this.keys.keyOf(source);
    const perkway = key === undefined ? undefined : this.clients.withKey(key);
    let isAway = false;
    let refused: string | null = perkway === undefined ? 'API_KEY_INVALID' : null;
    const made = await inTurns(rows, async (row): Promise<Made | undefined> => {
      if (isAway || refused !== null) return undefined;
      try {
        const answer = await makeLink(perkway!, job.created_by, job.id, job.request, row);
        if ('refused' in answer) refused ??= answer.refused;
        return answer;
      } catch {
        isAway = true;
        return undefined;
      }
    });
    const known = rows.flatMap(({ row }, index) => (made[index] ? [{ row, made: made[index] }] : []));
    await this.dataSource.query(NOTE, [
      job.id,
      known.map(({ row }) => row),
      known.map(({ made: link }) => ('id' in link ? link.id : null)),
      known.map(({ made: link }) => ('refused' in link ? link.refused : null)),
    ]);
    const pause = isAway ? '2 seconds' : '0 seconds';
    const [[after]] = await this.dataSource.query<[{ state: string }[], number]>(END_TURN, [
      job.id,
      pause,
      refused,
    ]);
    if (after?.state !== 'running') await this.keys.close([job.console_key_id]);
    return true;
  }
}
