/**
 * A child process that sends requests over raw sockets, one workload at a time. On a small machine a heavier client
 * would be the bottleneck.
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';

export interface SocketLoad {
  /** `http://127.0.0.1:<port>` */
  url: string;
  method: 'GET' | 'POST';
  /** Each `{uuid}` is replaced by a new one in every request. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Expected status. */
  expect: number;
  connections: number;
  seconds: number;
}

export interface SocketLoadResult {
  /** Expected responses per second. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Number of other responses by status. */
  unexpected: Record<string, number>;
}

async function run({ url, connections, seconds, expect, ...load }: SocketLoad): Promise<SocketLoadResult> {
  const { hostname, port } = new URL(url);
  const body = load.body ?? '';
  const headers = { host: hostname, ...load.headers, ...(body && { 'content-length': body.length }) };
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const request = () =>
    `${load.method} ${load.path.replaceAll('{uuid}', () => randomUUID())} HTTP/1.1\r\n${head}\r\n${body}`;

  const end = performance.now() + seconds * 1_000;
  const times: number[] = [];
  const unexpected: Record<string, number> = {};
  const client = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1');
      let sentAt = 0;
      let response = '';
      const send = () => {
        response = '';
        sentAt = performance.now();
        if (sentAt < end) socket.write(request());
        else socket.end(resolve);
      };
      socket.on('connect', send).on('error', reject);
      socket.on('data', (text: string) => {
        response += text;
        const headEnd = response.indexOf('\r\n\r\n');
        const length = /content-length: (\d+)/i.exec(response)?.[1];
        if (headEnd < 0 || response.length < headEnd + 4 + Number(length ?? 0)) return;
        const status = response.slice(9, 12);
        if (status === String(expect)) times.push(performance.now() - sentAt);
        else unexpected[status] = (unexpected[status] ?? 0) + 1;
        send();
      });
    });
  await Promise.all(Array.from({ length: connections }, client));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? NaN;
  return { rate: times.length / seconds, p50: at(0.5), p99: at(0.99), unexpected };
}

process.on('message', (load: SocketLoad) => {
  run(load).then(
    (result) => process.send!({ result }),
    (error: Error) => process.send!({ error: error.message }),
  );
});
