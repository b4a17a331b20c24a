import { ERASE } from '@perkway/domain';
import { anErasure, rpcCaller, type RpcCaller } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { GiftCards } from './support.js';

describe('an erasure', () => {
  let gift: GiftCards;
  let operator: RpcCaller;
  beforeAll(async () => {
    gift = await GiftCards.start();
    operator = await rpcCaller(gift.nats.url);
  });
  afterAll(async () => {
    await operator?.close();
    await gift?.close();
  });

  it.each([
    ['customer_id', { journey_id: 'ann', reference: null, attributes: null }],
    ['journey_id', { journey_id: 'erased-x', reference: null, attributes: null }],
  ] as const)('by %s clears the links of its account, and none of another account', async (kind, erased) => {
    const [account, other] = [`account-${randomUUID()}`, `account-${randomUUID()}`];
    for (const [index, of] of [account, other].entries())
      await gift.database.query(
        `insert into reward_links (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key,
           created_by, expires_at, journey_id, reference, attributes)
         values (gen_random_uuid(), 1, $1, $2, gen_random_uuid(), 'digest', 'k1', 'tests', now() + interval '1 day',
           'ann', 'ann', '{"cmeta": {"name": "ann"}}')`,
        [(kind === 'journey_id' ? 10 : 20) + index, of],
      );
    const erasure = anErasure({ account, kind });
    expect(await operator.rpc.request(ERASE['gift-cards'], erasure)).toEqual({ isDone: true });
    const links = await gift.database.query(
      `select account, journey_id, reference, attributes from reward_links where account = any($1)
       order by account = $2`,
      [[account, other], other],
    );
    expect(links).toEqual([
      { account, ...erased },
      { account: other, journey_id: 'ann', reference: 'ann', attributes: { cmeta: { name: 'ann' } } },
    ]);
  });
});
