/**
 * A process of its own that generates reward links: bare sockets, because on a small machine a costlier client would be
 * what is measured. Every request has an idempotency key of its own; one load at a time, as its parent says.
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';

export interface LinkLoad {
  /** `http://127.0.0.1:<port>` */
  url: string;
  pool: string;
  apiKey: string;
  body: string;
  connections: number;
  seconds: number;
}

export interface LinkLoadResult {
  /** Links made in a second. */
  rate: number;
  p50: number;
  p99: number;
  /** Other answers, by status. */
  unexpected: Record<string, number>;
}

async function run({ url, pool, apiKey, body, connections, seconds }: LinkLoad): Promise<LinkLoadResult> {
  const { hostname, port } = new URL(url);
  const end = performance.now() + seconds * 1_000;
  const times: number[] = [];
  const unexpected: Record<string, number> = {};
  const request = () =>
    `POST /pool/${pool}/reward-links?idempotencyKey=${randomUUID()} HTTP/1.1\r\nhost: ${hostname}\r\n` +
    `x-api-key: ${apiKey}\r\nx-created-by: bench\r\ncontent-type: application/json\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`;

  const client = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1');
      let sentAt = 0;
      let answer = '';
      const send = () => {
        answer = '';
        sentAt = performance.now();
        if (sentAt < end) socket.write(request());
        else socket.end(resolve);
      };
      socket.on('connect', send).on('error', reject);
      socket.on('data', (text: string) => {
        answer += text;
        const head = answer.indexOf('\r\n\r\n');
        const length = /content-length: (\d+)/i.exec(answer)?.[1];
        if (head < 0 || answer.length < head + 4 + Number(length ?? 0)) return;
        const status = answer.slice(9, 12);
        if (status === '201') times.push(performance.now() - sentAt);
        else unexpected[status] = (unexpected[status] ?? 0) + 1;
        send();
      });
    });
  await Promise.all(Array.from({ length: connections }, client));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? NaN;
  return { rate: times.length / seconds, p50: at(0.5), p99: at(0.99), unexpected };
}

process.on('message', (load: LinkLoad) => {
  run(load).then(
    (result) => process.send!({ result }),
    (error: Error) => process.send!({ error: error.message }),
  );
});
