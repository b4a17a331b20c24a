import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { Answers } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

/** The codes stay taken, by nobody whom anybody knows: the same customer is a new one from now on. */
const ERASE_CUSTOMER = `
  update coupon_codes set customer_id = 'erased-' || gen_random_uuid() where account = $1 and customer_id = $2`;

@Controller()
export class ErasuresController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
  ) {}

  @Answers(ERASE.perks)
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    if (erasure.kind === 'customer_id')
      await this.dataSource.query(ERASE_CUSTOMER, [erasure.account, erasure.value]);
    await this.tracking.erase(erasure);
    return { isDone: true };
  }
}
