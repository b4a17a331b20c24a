import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import { SavedQuestionsService } from '../saved-questions/saved-questions.service.js';
import { ROWS_OF_PERSON } from './rows-of-person.js';

/**
 * Clears a person's references, the only data of recipients in jobs. Also clears the request digest, because a
 * reference could be guessed from it. A repeated request with the job's idempotency key then matches any body.
 */
const ERASE_REFERENCE = `
  with rows as (
    update link_job_rows r set reference = null from link_jobs j where ${ROWS_OF_PERSON} returning r.job_id
  )
  update link_jobs set request_digest = '' where id in (select job_id from rows)`;

/**
 * Tells whether a batch is running that started before the erasure (`turn_at`: start of the batch). It may hold the
 * reference in memory and create a link with it.
 */
const RUNNING_BATCH = `
  select clock_timestamp()::text as now, exists (
    select from link_jobs
    where account_id = $1 and leased_until > now() and turn_at <= coalesce($2::timestamptz, clock_timestamp())
  ) as is_running`;
const MAX_REMEMBERED = 10_000;

@Controller()
export class ErasuresController {
  /** Database time at which this process first erased the references, by `<erasure>/<round>`. */
  private readonly erasedAt = new LRUCache<string, string>({ max: MAX_REMEMBERED });

  constructor(
    private readonly dataSource: DataSource,
    private readonly questions: SavedQuestionsService,
  ) {}

  @RpcHandler(ERASE.console)
  async erase(@Payload() { id, round, account, kind, value }: Erasure): Promise<ErasedPart> {
    await this.questions.erase(account, value);
    await this.dataSource.query(ERASE_REFERENCE, [account, value, kind]);
    const key = `${id}/${round}`;
    const [{ now, is_running }] = await this.dataSource.query<[{ now: string; is_running: boolean }]>(
      RUNNING_BATCH,
      [account, this.erasedAt.get(key) ?? null],
    );
    if (!this.erasedAt.has(key)) this.erasedAt.set(key, now);
    return { isDone: !is_running };
  }
}
