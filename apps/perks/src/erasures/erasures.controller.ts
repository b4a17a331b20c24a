import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { COUNT_CODES_OF_CUSTOMER, ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

/** The codes stay taken, under a random id. The same customer counts as a new one from now on. */
const ERASE_CUSTOMER = `
  update coupon_codes set customer_id = 'erased-' || gen_random_uuid() where account = $1 and customer_id = $2`;

/** Joins `perks`, because the index of customers begins with the perk. */
const CODES_OF_CUSTOMER = `
  select count(c.id)::integer as codes
  from perks p join coupon_codes c on c.perk_id = p.id and c.account = $1 and c.customer_id = $2`;

@Controller()
export class ErasuresController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
  ) {}

  @RpcHandler(ERASE.perks)
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    if (erasure.kind === 'customer_id')
      await this.dataSource.query(ERASE_CUSTOMER, [erasure.account, erasure.value]);
    await this.tracking.erase(erasure);
    return { isDone: true };
  }

  @RpcHandler(COUNT_CODES_OF_CUSTOMER)
  async countCodes(
    @Payload() { account, customer }: { account: string; customer: string },
  ): Promise<{ codes: number }> {
    const [count] = await this.dataSource.query<[{ codes: number }]>(CODES_OF_CUSTOMER, [account, customer]);
    return count;
  }
}
