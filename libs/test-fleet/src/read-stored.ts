import pg from 'pg';
import type { Stored, StoredLink } from './reconciliation.js';

/** Reads the events and reward links of a run as superuser. `linkEvents` has those of all runs. */
export async function readStored(databaseUrl: string, run: string): Promise<Stored> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const count = async (column: string, where: string, values: string[] = []) => {
      const { rows } = await client.query<{ planted: string; times: number }>(
        `select ${column} as planted, count(*)::int as times from analytics.tracking_events where ${where} group by 1`,
        values,
      );
      return new Map(rows.map(({ planted, times }) => [planted, times]));
    };
    const { rows } = await client.query<StoredLink & { by: string }>(
      `select id, created_by as by, revealed_at is not null as "isRevealed", cancelled_at is not null as "isCancelled"
       from gift_cards.reward_links where created_by like $1`,
      [`${run}-%`],
    );
    const links = new Map<string, StoredLink[]>();
    for (const { by, ...link } of rows) links.set(by, [...(links.get(by) ?? []), link]);
    return {
      events: await count('utm_content', `type <> 'reward_link' and utm_content like $1`, [`${run}-%`]),
      linkEvents: await count('id', `type = 'reward_link'`),
      links,
    };
  } finally {
    await client.end();
  }
}
