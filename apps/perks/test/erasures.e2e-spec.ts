import { ERASE } from '@perkway/domain';
import { anErasure, anAccountId, rpcCaller, type RpcCaller } from '@perkway/testing';
import { PerksFixture } from './perks-fixture.js';

describe('an erasure', () => {
  let perks: PerksFixture;
  let operator: RpcCaller;
  beforeAll(async () => {
    perks = await PerksFixture.start();
    operator = await rpcCaller(perks.nats.url);
  });
  afterAll(async () => {
    await operator?.close();
    await perks?.close();
  });

  it('removes the customer from the codes of that account only', async () => {
    const [account, other] = [anAccountId(), anAccountId()];
    const perk = await perks.putPerk({ is_coupon_perk: true });
    for (const [index, of] of [account, other].entries())
      await perks.database.query(
        `insert into coupon_codes (perk_id, code, pick, account, customer_id, allocated_at)
         values ($1, $2, null, $3, 'ann', now())`,
        [perk, `CODE-${index}`, of],
      );
    const erasure = anErasure({ account });
    expect(await operator.rpc.request(ERASE.perks, erasure)).toEqual({ isDone: true });
    const customers = await perks.database.query<{ account: string; customer_id: string }>(
      'select account, customer_id from coupon_codes where perk_id = $1 order by code',
      [perk],
    );
    expect(customers).toEqual([
      { account, customer_id: expect.stringMatching(/^erased-/) },
      { account: other, customer_id: 'ann' },
    ]);
  });
});
