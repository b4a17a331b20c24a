import { createPerkway, PerkwayError, type Perkway } from '@perkway/client';

// A sample service of an integrator. test/package.fleet-spec.ts compiles it under `strict` and runs it.

const {
  PERKWAY_API_KEY: apiKey = '',
  GIFT_URL: gift = '',
  TOKEN_URL: token = '',
  POOL_ID: poolId = '',
} = process.env;
const perkway: Perkway = createPerkway({ apiKey, hosts: { gift, token } });

const pools = await perkway.gift.getGiftCardPools();
const available: number = pools[0]!.inventories[0]!.available;

const link = await perkway.gift.generateRewardLink({
  poolId,
  createdBy: 'Łukasz 100%',
  denomination: 25,
  currency: 'EUR',
  expires_at: Math.floor(Date.now() / 1000) + 3600,
  cmeta_segment: 'gold',
});
const address: string = link.reward_link;

const creators: string[] = [];
for await (const { created_by } of perkway.gift.listRewardLinks({ limit: 1 })) creators.push(created_by);
const { signal } = new AbortController();
const page = await perkway.gift.listRewardLinks({ state: 'RESERVED' }, { signal }).withResponse();
const { data, next_cursor } = page.data;
const response: [number, string | undefined] = [page.status, page.requestId];

const preference = { createdBy: 'consumer', currency: 'EUR', expires_at: 1893456000 };
export const WRONG = [
  // @ts-expect-error A denomination is a number.
  () => perkway.gift.generateRewardLink({ ...preference, poolId, denomination: '25' }),
  // @ts-expect-error A link needs a pool.
  () => perkway.gift.generateRewardLink({ ...preference, denomination: 25 }),
  // @ts-expect-error There is no such state.
  () => perkway.gift.listRewardLinks({ state: 'LOST' }),
  // @ts-expect-error There is no such operation.
  () => perkway.gift.makeMeRich(),
];

let refusal = '';
try {
  await perkway.gift.generateRewardLink({
    poolId,
    createdBy: 'consumer',
    denomination: 26,
    currency: 'EUR',
    expires_at: Math.floor(Date.now() / 1000) + 3600,
  });
} catch (error) {
  if (!(error instanceof PerkwayError)) throw error;
  if (error.code === 'NO_AVAILABLE_CARDS') refusal = `${error.code} ${error.status}`;
}

const { token: analyticsToken } = perkway.analytics;
const isToken = (await analyticsToken()).split('.').length === 3;
console.log(
  JSON.stringify({
    available,
    address,
    creators,
    status: response[0],
    hasRequestId: response[1] !== undefined,
    reserved: data.length,
    next_cursor,
    refusal,
    isToken,
  }),
);
