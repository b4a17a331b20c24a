import { jetstreamManager } from '@nats-io/jetstream';
import type { TestDatabase } from './test-database.js';
import { connectTo } from './test-nats.js';

/** A stored record as text, and the table or stream that has it. */
export interface Kept {
  place: string;
  text: string;
}

/** Returns every row of every table outside Postgres's own schemas as text; bytes are in hex. */
export async function keptRows({ query }: Pick<TestDatabase, 'query'>): Promise<Kept[]> {
  const tables = await query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace n on n.oid = relnamespace
     where relkind = 'r' and nspname not like 'pg\\_%' and nspname <> 'information_schema' order by 1`,
  );
  const kept: Kept[] = [];
  for (const { name } of tables) {
    const rows = await query<{ text: string }>(`select to_jsonb(t)::text as text from ${name} t`);
    kept.push(...rows.map(({ text }) => ({ place: name, text })));
  }
  return kept;
}

/** Returns every message of every stream with its headers, including key-value buckets. */
export async function keptMessages(natsUrl: string): Promise<Kept[]> {
  const connection = await connectTo(natsUrl);
  try {
    const { streams } = await jetstreamManager(connection);
    const kept: Kept[] = [];
    for await (const { config, state } of streams.list())
      for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq; seq += 1) {
        const message = await streams.getMessage(config.name, { seq });
        if (!message) continue;
        const head = [...message.header].map(([name, values]) => `${name}: ${values.join(', ')}`);
        kept.push({
          place: config.name,
          text: [message.subject, ...head, Buffer.from(message.data).toString()].join('\n'),
        });
      }
    return kept;
  } finally {
    await connection.close();
  }
}

/** Returns where one of these texts is stored, as `place: text`. */
export const placesOf = (kept: readonly Kept[], texts: readonly string[]): string[] => [
  ...new Set(
    kept.flatMap(({ place, text }) =>
      texts.filter((each) => text.includes(each)).map((each) => `${place}: ${each}`),
    ),
  ),
];
