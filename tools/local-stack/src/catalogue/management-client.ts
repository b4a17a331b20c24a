import { CLOSED_CONNECTION_CODES } from '@perkway/domain/closed-connection';
import { setTimeout as sleep } from 'node:timers/promises';

import { CatalogueError } from './catalogue-error.js';

const ATTEMPTS = 6;
const MAX_PAUSE_S = 5;

export interface Request {
  method: 'GET' | 'PUT' | 'POST';
  path: string;
  contentType?: string;
  body?: string;
  timeoutMs: number;
  /** Replaces the ADMIN key. */
  key?: string;
}
export interface HttpResponse {
  status: number;
  etag: string | null;
  /** Empty if the response is not JSON. */
  body: Record<string, unknown>;
  text: string;
}

/** A client for one host of the management API. */
export class ManagementClient {
  constructor(
    readonly host: string,
    private readonly base: string,
    private readonly adminKey: string,
  ) {}

  /**
   * Returns the response of any status, after retrying 503, 429 and lost connections: every call may be repeated.
   * @throws CatalogueError if there is no response
   */
  async send(
    what: string,
    { method, path, contentType, body, timeoutMs, key }: Request,
  ): Promise<HttpResponse> {
    for (let attempt = 1; ; attempt += 1) {
      let response: Response;
      let text: string;
      try {
        response = await fetch(new URL(path, this.base), {
          method,
          headers: { 'X-API-Key': key ?? this.adminKey, ...(contentType && { 'Content-Type': contentType }) },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        });
        text = await response.text();
      } catch (error) {
        const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
        if (CLOSED_CONNECTION_CODES.includes(cause?.code ?? '') && attempt < ATTEMPTS) continue;
        const reason =
          name === 'TimeoutError' ? `no response within ${timeoutMs / 1000} s` : (cause?.message ?? message);
        throw new CatalogueError([
          `${what}: the host "${this.host}" at ${this.base} does not respond (${reason})`,
        ]);
      }
      const { status, headers } = response;
      // A host that has just started may not reach the app that knows keys and accounts yet.
      if ((status === 503 || status === 429) && attempt < ATTEMPTS) {
        const pause = Number(headers.get('Retry-After')) || 1;
        await sleep(Math.min(pause, MAX_PAUSE_S) * 1000);
        continue;
      }
      return { status, etag: headers.get('ETag'), body: parse(text), text };
    }
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}
