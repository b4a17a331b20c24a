import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the number of events handed to the stream or the outbox, and of events sent without either. */
export async function trackedBy(appUrl: string): Promise<{ durable: number; atRisk: number }> {
  // Wait for pending events.
  await sleep(1_000);
  const text = await (await fetch(`${appUrl}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name}\\{.*\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return {
    durable: metric('tracking_published_total') + metric('tracking_outboxed_total'),
    atRisk: metric('tracking_at_risk_total'),
  };
}
