import { Readable } from 'node:stream';
import { SharedResponses } from './shared-responses.js';

it('aborts a streamed run when its reader leaves, although callers that joined it run their own', async () => {
  const shared = new SharedResponses();
  const reader = new AbortController();
  const signals: AbortSignal[] = [];
  const work = (signal: AbortSignal) => {
    signals.push(signal);
    return Promise.resolve(Readable.from([]));
  };
  const joiner = new AbortController().signal;
  await Promise.all([shared.get('query', reader.signal, work), shared.get('query', joiner, work)]);
  reader.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
});
