import { Injectable } from '@nestjs/common';
import { Clock, Loop, Loops } from '@perkway/platform';
import { DataSource } from 'typeorm';
import { FleetClients } from '../fleet/fleet-clients.js';
import { ConsoleKeys } from '../sessions/console-keys.js';
import { mapConcurrently, makeLink, type JobRow, type LinkRequest, type Made } from './link-requests.js';

const POLL_MS = 1_000;
/** Rows per batch. Between two batches of a job, other jobs get theirs. */
const ROWS_PER_BATCH = 100;
/** A batch requests no further links after this time, so that a request (15 s at most) ends before the lease. */
const BATCH_MS = 40_000;

/** Takes the job that has waited longest. After its lease ends, another replica can take it over from a dead one. */
const TAKE = `
  update link_jobs set leased_until = now() + interval '60 seconds', turn_at = now() where id = (
    select id from link_jobs where state = 'running' and leased_until <= now()
    order by turn_at limit 1 for update skip locked
  ) returning id, request, key_secret, keyring_id, console_key_id, created_by, turn_at::text as turn`;
const OPEN_ROWS = `
  select row, reference from link_job_rows where job_id = $1 and link_id is null order by row limit ${ROWS_PER_BATCH}`;
const RECORD_LINKS = `
  update link_job_rows r set link_id = n.link_id, refused = n.refused
  from unnest($2::integer[], $3::uuid[], $4::text[]) as n(row, link_id, refused)
  where r.job_id = $1 and r.row = n.row and r.link_id is null`;
/**
 * Ends the lease after a batch, unless another replica has taken it, and stores the state of the job. A job that was
 * stopped meanwhile stays stopped. A job that was resumed meanwhile has a new key, so the old key's refusal does not fail it.
 */
const END_BATCH = `
  update link_jobs set leased_until = now() + $2::interval, refused = case when console_key_id = $4 then $3 end,
    state = case when state <> 'running' then state
      when $3::text is not null and console_key_id = $4 then 'failed'
      when exists (select from link_job_rows where job_id = $1 and link_id is null) then 'running' else 'done' end
  where id = $1 and turn_at = $5 returning state, console_key_id`;

interface LeasedJob {
  id: string;
  request: LinkRequest;
  key_secret: string;
  keyring_id: string;
  console_key_id: string;
  created_by: string;
  /** The start of the batch, which identifies the lease. */
  turn: string;
}

/**
 * Runs link jobs on every replica, one batch of one job at a time. If a batch is interrupted, a later one creates the
 * missing links; the idempotency key of a row prevents a second link.
 */
@Injectable()
export class LinkJobRunner {
  private readonly loop: Loop;

  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: ConsoleKeys,
    private readonly clients: FleetClients,
    private readonly clock: Clock,
    loops: Loops,
  ) {
    this.loop = loops.add({ task: 'run link jobs', everyMs: POLL_MS, run: () => this.runBatch() });
  }

  /** Starts to work on the open jobs, unless it already does. */
  wake(): void {
    this.loop.wake();
  }

  /** Runs one batch of one job. @returns the pause before the next one */
  private async runBatch(): Promise<number> {
    const endsAt = this.clock.now() + BATCH_MS;
    const [[job]] = await this.dataSource.query<[LeasedJob[], number]>(TAKE);
    if (!job) return POLL_MS;
    const rows = await this.dataSource.query<JobRow[]>(OPEN_ROWS, [job.id]);
    const source = { purpose: 'job', secret: job.key_secret, keyringId: job.keyring_id } as const;
    const key = this.keys.keyOf(source);
    const perkway = key === undefined ? undefined : this.clients.withKey(key);
    let isUnavailable = false;
    let refused: string | null = perkway === undefined ? 'API_KEY_INVALID' : null;
    const made = await mapConcurrently(rows, async (row): Promise<Made | undefined> => {
      if (isUnavailable || refused !== null || this.loop.isStopping || this.clock.now() >= endsAt)
        return undefined;
      try {
        const response = await makeLink(perkway!, job.created_by, job.id, job.request, row);
        if ('refused' in response) refused ??= response.refused;
        return response;
      } catch {
        isUnavailable = true;
        return undefined;
      }
    });
    const known = rows.flatMap(({ row }, index) => (made[index] ? [{ row, made: made[index] }] : []));
    await this.dataSource.query(RECORD_LINKS, [
      job.id,
      known.map(({ row }) => row),
      known.map(({ made: link }) => ('id' in link ? link.id : null)),
      known.map(({ made: link }) => ('refused' in link ? link.refused : null)),
    ]);
    const pause = isUnavailable ? '2 seconds' : '0 seconds';
    const [[after]] = await this.dataSource.query<[{ state: string; console_key_id: string }[], number]>(
      END_BATCH,
      [job.id, pause, refused, job.console_key_id, job.turn],
    );
    if (after && after.state !== 'running') await this.keys.close([after.console_key_id]);
    return 0;
  }
}
