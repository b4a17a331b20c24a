import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export interface Answer {
  status: number;
  /** Names in lower case; of a repeated one the last. */
  headers: Map<string, string>;
  /** As it was before it was compressed. */
  body: Buffer;
  /** Bytes that came after the answer: of what was one request the server has read two. */
  trailing: number;
}

/** Whether the server said nothing and hung up, or said nothing. */
export type Silence = 'closed' | 'late';

export interface Sending {
  bytes: Buffer;
  /** Ends our half of the connection with the last byte, as a sender that dies does. */
  hangsUp: boolean;
  /** An answer to HEAD has no body. */
  isHead: boolean;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** Sends bytes over a connection of their own and reads one answer to its end. */
export function exchange(
  { hostname, port }: URL,
  { bytes, hangsUp, isHead }: Sending,
  deadlineMs: number,
): Promise<Answer | Silence> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    let received: Buffer = Buffer.alloc(0);
    let isOver = false;
    const settle = (outcome: Answer | Silence) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => settle('late'), deadlineMs);
    const tryToRead = (ended: boolean) => {
      const answer = readAnswer(received, isHead, ended);
      if (answer) settle(answer);
      else if (ended) settle('closed');
    };
    socket.on('connect', () => (hangsUp ? socket.end(bytes) : socket.write(bytes)));
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      tryToRead(false);
    });
    socket.on('end', () => tryToRead(true));
    // A server may answer and close while we still write: what it said counts.
    socket.on('error', () => tryToRead(true));
    socket.on('close', () => tryToRead(true));
  });
}

/** Undefined while it has not come to its end. */
export function readAnswer(received: Buffer, isHead: boolean, ended: boolean): Answer | undefined {
  const end = received.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
  const rest = received.subarray(end + HEAD_END.length);
  // "Go on" is no answer yet.
  if (status >= 100 && status < 200) return readAnswer(rest, isHead, ended);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const answer = (body: Buffer, length: number): Answer => ({
    status,
    headers,
    body: body.length === 0 ? body : decompressed(body, headers.get('content-encoding')),
    trailing: rest.length - length,
  });
  if (isHead || status === 204 || status === 304) return answer(Buffer.alloc(0), 0);
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunked = readChunks(rest);
    return chunked && answer(chunked.body, chunked.length);
  }
  const length = headers.get('content-length');
  if (length !== undefined)
    return rest.length >= Number(length)
      ? answer(rest.subarray(0, Number(length)), Number(length))
      : undefined;
  return ended ? answer(rest, rest.length) : undefined;
}

function decompressed(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(body);
  return encoding === 'br' ? brotliDecompressSync(body) : body;
}

function readChunks(bytes: Buffer): { body: Buffer; length: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    const next = lineEnd + 2 + size + 2;
    if (!(size >= 0) || bytes.length < next) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), length: next };
    chunks.push(bytes.subarray(lineEnd + 2, next - 2));
    at = next;
  }
}
