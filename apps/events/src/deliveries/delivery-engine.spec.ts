import { parseKeyring } from '@perkway/signing';
import { waitFor } from '@perkway/testing';
import pino from 'pino';
import { Registry } from 'prom-client';
import { DeliveryEngine } from './delivery-engine.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import type { ClaimedDelivery } from './delivery-queue.js';

/** An engine that claims as many deliveries as given. They end at once, because their events are not stored. */
function engineWith(claims: Partial<ClaimedDelivery>[]) {
  const calls: { isUrgent?: boolean; recorded: number }[] = [];
  let recorded = 0;
  const engine = new DeliveryEngine(
    {
      claim: async () => claims.splice(0) as ClaimedDelivery[],
      record: async (results) => {
        recorded += results.length;
        return [];
      },
    },
    { post: () => Promise.reject(new Error('nothing is posted')) },
    parseKeyring(`k1:${Buffer.alloc(32, 1).toString('base64url')}`),
    { now: () => Date.now() },
    new DeliveryMetrics(new Registry()),
    pino({ level: 'silent' }),
    (isUrgent) => void calls.push({ isUrgent, recorded }),
  );
  return { engine, calls };
}

const deliveries = (count: number, subject_hash: string | null = null) =>
  Array.from({ length: count }, () => ({ webhook: '1', is_stored: false, subject_hash }));

it('asks for the next claim at once when many attempts have ended, and counts them anew for each claim', async () => {
  const claims = deliveries(151);
  const { engine, calls } = engineWith(claims);
  for (let claim = 1; claim <= 2; claim += 1) {
    await engine.start();
    await waitFor(() => calls.length >= claim * 151, 'the end of all attempts');
    expect(calls.filter(({ isUrgent }) => isUrgent)).toHaveLength(2 * claim);
    claims.push(...deliveries(151));
  }
  await engine.whenIdle();
});

it.each([
  { subject: null, more: 0, what: 'asks for no claim when results are stored' },
  {
    subject: '7',
    more: 1,
    what: 'asks for a claim when a stored result has released the next of its subject',
  },
])('$what', async ({ subject, more }) => {
  const { engine, calls } = engineWith(deliveries(3, subject));
  await engine.start();
  await engine.whenIdle();
  expect(calls.filter(({ recorded }) => recorded === 3)).toHaveLength(more);
});
