import { setTimeout as sleep } from 'node:timers/promises';

import { CatalogueError } from './catalogue-error.js';

const ATTEMPTS = 6;
const LONGEST_PAUSE_S = 5;

export interface Request {
  method: 'GET' | 'PUT' | 'POST';
  path: string;
  contentType?: string;
  body?: string;
  timeoutMs: number;
  /** In place of the ADMIN key. */
  key?: string;
}
export interface Answer {
  status: number;
  etag: string | null;
  /** Empty where it is no JSON. */
  body: Record<string, unknown>;
  text: string;
}

/** Calls one host of the management API. */
export class ManagementClient {
  constructor(
    readonly host: string,
    private readonly base: string,
    private readonly adminKey: string,
  ) {}

  /** Whatever the host says, unless it goes on having no time. @throws CatalogueError when it does not answer */
  async send(what: string, { method, path, contentType, body, timeoutMs, key }: Request): Promise<Answer> {
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
        const { name, message, cause } = error as Error;
        const reason =
          name === 'TimeoutError'
            ? `no answer within ${timeoutMs / 1000} s`
            : ((cause as Error)?.message ?? message);
        throw new CatalogueError([
          `${what}: the host "${this.host}" at ${this.base} does not answer (${reason})`,
        ]);
      }
      const { status, headers } = response;
      // A host that has just started may still be waiting for the one it asks about keys or accounts.
      if ((status === 503 || status === 429) && attempt < ATTEMPTS) {
        const pause = Number(headers.get('Retry-After')) || 1;
        await sleep(Math.min(pause, LONGEST_PAUSE_S) * 1000);
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
