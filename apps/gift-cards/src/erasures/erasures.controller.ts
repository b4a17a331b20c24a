import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { Answers } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

/**
 * What a link was made for is gone; link, card and idempotency key stay. The digest of the request could be guessed at,
 * so it goes too: an empty one is that of any request.
 */
const ERASE_JOURNEY = `
  update reward_links set journey_id = $3, reference = null, attributes = null, body_digest = ''
  where account = $1 and journey_id = $2`;
const ERASE_CUSTOMER = `
  update reward_links set reference = null, attributes = null, body_digest = ''
  where account = $1 and reference = $2`;

@Controller()
export class ErasuresController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
  ) {}

  @Answers(ERASE['gift-cards'])
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    const { account, kind, value, standIn } = erasure;
    if (kind === 'journey_id') await this.dataSource.query(ERASE_JOURNEY, [account, value, standIn]);
    else await this.dataSource.query(ERASE_CUSTOMER, [account, value]);
    await this.tracking.erase(erasure);
    return { isDone: true };
  }
}
