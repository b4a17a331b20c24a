import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { COUNT_CODES_OF_CUSTOMER, ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

/** The codes stay taken, under a random id. The same customer counts as a new one from now on. */
const ERASE_CUSTOMER = `
  update coupon_codes set customer_id = 'erased-' || gen_random_uuid() where account = $1 and customer_id = $2`;

/**
 * Looks the customer up perk by perk, because the index of customers begins with the perk. Codes of deleted perks count,
 * too: their customers keep them.
 */
const CODES_OF_CUSTOMER = `
  with recursive taken as (
    (select perk_id from coupon_codes where customer_id is not null order by perk_id limit 1)
    union all
    select next.perk_id
    from taken, lateral (
      select perk_id from coupon_codes
      where customer_id is not null and perk_id > taken.perk_id order by perk_id limit 1) next
  )
  select count(c.id)::integer as codes
  from taken join coupon_codes c on c.perk_id = taken.perk_id and c.account = $1 and c.customer_id = $2`;

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
