import { setTimeout as sleep } from 'node:timers/promises';

/** Events that an app has handed over to the stream or its outbox, and those that it answered without. */
export async function trackedBy(appUrl: string): Promise<{ durable: number; atRisk: number }> {
  // What is on its way arrives.
  await sleep(1_000);
  const text = await (await fetch(`${appUrl}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name}\\{.*\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return {
    durable: metric('tracking_published_total') + metric('tracking_outboxed_total'),
    atRisk: metric('tracking_at_risk_total'),
  };
}
