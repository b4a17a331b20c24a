import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { Answers } from '@perkway/platform';
import { DataSource } from 'typeorm';

/**
 * A job knows recipients by the references that somebody gave it, and no journeys. Its digest could be guessed at, so it
 * goes with them: an empty one is that of any request.
 */
const ERASE_REFERENCE = `
  with rows as (
    update link_job_rows r set reference = null from link_jobs j
    where r.job_id = j.id and j.account_id = $1 and r.reference = $2 returning r.job_id
  )
  update link_jobs set request_digest = '' where id in (select job_id from rows)`;

@Controller()
export class ErasuresController {
  constructor(private readonly dataSource: DataSource) {}

  @Answers(ERASE.console)
  async erase(@Payload() { account, kind, value }: Erasure): Promise<ErasedPart> {
    if (kind === 'customer_id') await this.dataSource.query(ERASE_REFERENCE, [account, value]);
    return { isDone: true };
  }
}
