import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

/**
 * Clears what the link was made for, and keeps link, card and idempotency key. The request digest is cleared too,
 * because
 * its input could be guessed; an empty digest matches any request.
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

  @RpcHandler(ERASE['gift-cards'])
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    const { account, kind, value, standIn } = erasure;
    if (kind === 'journey_id') await this.dataSource.query(ERASE_JOURNEY, [account, value, standIn]);
    else await this.dataSource.query(ERASE_CUSTOMER, [account, value]);
    await this.tracking.erase(erasure);
    return { isDone: true };
  }
}
