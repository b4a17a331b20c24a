import { headers } from '@nats-io/transport-node';
import { jetstream, jetstreamManager, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import { readCommandLine } from '@perkway/command-line';
import { TRACKING_DEAD_STREAM, TRACKING_REPLAY_SUBJECT, TRACKING_SOURCE_HEADER } from '@perkway/domain';
import { withBroker } from '@perkway/local-servers';
import { CommandError, readOperatorUrl, runCommand } from './read-variable.js';

const USAGE = `perkway dead-letters [<number> ... | replay <number> ... | replay all]

Lists the events that could not be stored, one line each. With numbers, prints those events as received. With replay, publishes
them to the stream again; first deploy a release that can store them. Events that still cannot be stored become dead letters again.
NATS_URL must name a user with all permissions.`;

async function* lettersOf({ streams }: JetStreamManager): AsyncGenerator<StoredMsg> {
  const { state } = await streams.info(TRACKING_DEAD_STREAM);
  for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq; seq += 1) {
    const letter = await streams.getMessage(TRACKING_DEAD_STREAM, { seq });
    if (letter) yield letter;
  }
}

const write = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

function readNumbers(texts: string[]): number[] {
  const numbers = texts.map(Number);
  if (texts.length === 0 || !numbers.every((number) => Number.isInteger(number) && number > 0))
    throw new CommandError('Give the numbers that `perkway dead-letters` prints, or `replay all`.');
  return numbers;
}

await runCommand(async () => {
  const { positionals } = readCommandLine(USAGE, { allowPositionals: true });
  const [action, ...rest] = positionals;
  const isReplay = action === 'replay';
  const wanted = isReplay
    ? rest[0] === 'all'
      ? undefined
      : readNumbers(rest)
    : action && readNumbers([action, ...rest]);
  await withBroker(readOperatorUrl(), async (connection) => {
    const manager = await jetstreamManager(connection);
    const { config } = await manager.streams.info(TRACKING_DEAD_STREAM);
    const missing = new Set(wanted || []);
    for await (const letter of lettersOf(manager)) {
      const { seq, time, data, header } = letter;
      if (wanted && !missing.delete(seq)) continue;
      const head = { number: seq, at: time.toISOString(), reason: header.get('Perkway-Reason') };
      if (!action) write({ ...head, bytes: data.length });
      else if (!isReplay) process.stdout.write(`${Buffer.from(data).toString()}\n`);
      else if (Date.now() - time.getTime() < config.duplicate_window / 1e6)
        // If ingest rejects the event again, the broker would drop the new dead letter as a duplicate of this one.
        write({
          ...head,
          replayed: false,
          because: 'it is too recent for the duplicate window of the broker: retry later',
        });
      else {
        // Publish before deleting: an event in both places is stored once.
        const named = headers();
        named.set(TRACKING_SOURCE_HEADER, header.get(TRACKING_SOURCE_HEADER));
        await jetstream(connection).publish(TRACKING_REPLAY_SUBJECT, data, { headers: named });
        await manager.streams.deleteMessage(TRACKING_DEAD_STREAM, seq);
        write({ ...head, replayed: true });
      }
    }
    if (missing.size > 0) throw new CommandError(`No such dead letter: ${[...missing].join(', ')}.`);
  });
});
