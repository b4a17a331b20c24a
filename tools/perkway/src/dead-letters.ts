/**
 * `perkway dead-letters`: what could not be stored, a line each; with a number, that one as it was put aside;
 * `perkway dead-letters replay <number>... | all` hands them to the ingest again, of a release that knows better. One that it
 * refuses again is put aside again. NATS_URL names a user who may do everything.
 */
import { jetstream, jetstreamManager, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import { TRACKING_DEAD_STREAM, trackingSubject } from '@perkway/domain';
import { withBroker } from '@perkway/local-servers';
import { CommandError, readOperatorUrl, runCommand } from './read-variable.js';

const REPLAY_SUBJECT = trackingSubject('replay');

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
    throw new CommandError('Which ones? Give the numbers that `perkway dead-letters` says, or all.');
  return numbers;
}

await runCommand(async () => {
  const [action, ...rest] = process.argv.slice(2);
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
        // Refused again by then, it would be taken for the letter that has just been removed.
        write({
          ...head,
          replayed: false,
          because: 'it is younger than the broker remembers: try again later',
        });
      else {
        // First there, then gone here: an event that is in both is stored once.
        await jetstream(connection).publish(REPLAY_SUBJECT, data);
        await manager.streams.deleteMessage(TRACKING_DEAD_STREAM, seq);
        write({ ...head, replayed: true });
      }
    }
    if (missing.size > 0) throw new CommandError(`There is no dead letter ${[...missing].join(', ')}.`);
  });
});
