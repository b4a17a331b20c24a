import { jetstreamManager } from '@nats-io/jetstream';
import { TRACKING_STREAM, type AppName } from '@perkway/domain';
import { withBroker } from '@perkway/local-servers';
import { setTimeout as sleep } from 'node:timers/promises';
import { compare, type CompareOptions, type Contender } from './compare.js';
import type { Fleet } from './fleet.js';

interface Tracked {
  /** Events handed to the stream or the outbox. */
  durable: number;
  /** Events of responses that were sent before the event was durable. */
  atRisk: number;
  /** Messages of the stream. */
  messages: number;
}

async function tracked(fleet: Fleet, apps: AppName[]): Promise<Tracked> {
  // Wait for pending events.
  await sleep(1_000);
  const texts = await Promise.all(
    apps.map(async (app) => (await fetch(`${fleet.urls[app]}/metrics`)).text()),
  );
  const sum = (name: string) =>
    texts.reduce(
      (all, text) => all + Number(new RegExp(`^${name}\\{.*\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0),
      0,
    );
  const { state } = await withBroker(fleet.natsUrl, async (connection) =>
    (await jetstreamManager(connection)).streams.info(TRACKING_STREAM),
  );
  return {
    durable: sum('tracking_published_total') + sum('tracking_outboxed_total'),
    atRisk: sum('tracking_at_risk_total'),
    messages: state.last_seq,
  };
}

/**
 * Compares paths whose responses wait for a durable event, and prints how many events shared a message.
 * @returns the number of missed targets
 */
export async function compareTracked(
  fleet: Fleet,
  apps: AppName[],
  contenders: Contender[],
  options?: CompareOptions,
): Promise<number> {
  // The apps under test run without analytics-query, which would compete for CPU. The stream that it created remains.
  await fleet.halt('analytics-query');
  const before = await tracked(fleet, apps);
  const missed = await compare(contenders, options);
  const after = await tracked(fleet, apps);
  const durable = after.durable - before.durable;
  process.stdout.write(
    `events durable before the response was sent: ${durable}, not durable: ${after.atRisk}; ` +
      `${(durable / (after.messages - before.messages)).toFixed(1)} events per message\n`,
  );
  return missed + (after.atRisk > 0 ? 1 : 0);
}
