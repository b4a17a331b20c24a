import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ADVISORY_LOCKS, ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

/**
 * Clears the fields that name the person, and keeps link, card and idempotency key. The request digest is cleared too,
 * because its input could be guessed; an empty digest matches any request.
 */
const ERASE_JOURNEY = `
  update reward_links set journey_id = $3, reference = null, attributes = null, replacement_reason = null,
    body_digest = ''
  where account = $1 and journey_id = $2`;
const ERASE_CUSTOMER = `
  update reward_links set reference = null, attributes = null, replacement_reason = null, body_digest = ''
  where account = $1 and reference = $2`;
/** Counters are recomputed from the links, which no longer name the person. */
const FORGET_COUNTERS = `
  delete from limit_counts c using limits l
  where l.id = c.limit_id and l.owner = $1 and l.per in ('journey_id', 'reference')`;

@Controller()
export class ErasuresController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
  ) {}

  @RpcHandler(ERASE['gift-cards'])
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    const { account, kind, value, standIn } = erasure;
    await this.dataSource.transaction(async (manager) => {
      // While this lock is held, no reservation counts links.
      await manager.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.giftCardCounting})`);
      if (kind === 'journey_id') await manager.query(ERASE_JOURNEY, [account, value, standIn]);
      else await manager.query(ERASE_CUSTOMER, [account, value]);
      await manager.query(FORGET_COUNTERS, [account]);
    });
    await this.tracking.erase(erasure);
    return { isDone: true };
  }
}
