import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export interface HttpResponse {
  status: number;
  /** By lower-case name; the last value of a repeated one. */
  headers: Map<string, string>;
  /** The decompressed body. */
  body: Buffer;
  /** Number of bytes after the response. If there are any, the server read one request as two. */
  trailing: number;
}

/** How a response is missing: the server closed the connection, or did not respond in time. */
export type Silence = 'closed' | 'late';

export interface Sending {
  bytes: Buffer;
  /** Closes our half of the connection after the last byte, like a client that crashes. */
  hangsUp: boolean;
  /** A response to HEAD has no body. */
  isHead: boolean;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** Sends bytes over a new connection and reads one response. */
export function exchange(
  { hostname, port }: URL,
  { bytes, hangsUp, isHead }: Sending,
  deadlineMs: number,
): Promise<HttpResponse | Silence> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    let received: Buffer = Buffer.alloc(0);
    let isOver = false;
    const settle = (outcome: HttpResponse | Silence) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => settle('late'), deadlineMs);
    const tryToRead = (ended: boolean) => {
      const response = readResponse(received, isHead, ended);
      if (response) settle(response);
      else if (ended) settle('closed');
    };
    socket.on('connect', () => (hangsUp ? socket.end(bytes) : socket.write(bytes)));
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      tryToRead(false);
    });
    socket.on('end', () => tryToRead(true));
    // A server may respond and close while we are still writing.
    socket.on('error', () => tryToRead(true));
    socket.on('close', () => tryToRead(true));
  });
}

/** Returns undefined while the response is incomplete. */
export function readResponse(received: Buffer, isHead: boolean, ended: boolean): HttpResponse | undefined {
  const end = received.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
  const rest = received.subarray(end + HEAD_END.length);
  // Skip informational responses such as 100 Continue.
  if (status >= 100 && status < 200) return readResponse(rest, isHead, ended);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const respond = (body: Buffer, length: number): HttpResponse => ({
    status,
    headers,
    body: body.length === 0 ? body : decompressed(body, headers.get('content-encoding')),
    trailing: rest.length - length,
  });
  if (isHead || status === 204 || status === 304) return respond(Buffer.alloc(0), 0);
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunked = readChunks(rest);
    return chunked && respond(chunked.body, chunked.length);
  }
  const length = headers.get('content-length');
  if (length !== undefined)
    return rest.length >= Number(length)
      ? respond(rest.subarray(0, Number(length)), Number(length))
      : undefined;
  return ended ? respond(rest, rest.length) : undefined;
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
