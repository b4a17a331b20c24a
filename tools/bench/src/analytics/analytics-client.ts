import { performance } from 'node:perf_hooks';
import type { Fleet } from '../fleet.js';

export const write = (line: string): void => void process.stdout.write(`${line}\n`);
export const ms = (value: number): string => value.toFixed(1).padStart(8);
/** Prints a result and whether its target was met. @returns the number of missed targets: 0 or 1 */
export function judge(line: string, isHeld: boolean): number {
  write(`${line}: ${isHeld ? 'held' : 'MISSED'}`);
  return isHeld ? 0 : 1;
}

/** @returns milliseconds */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export class AnalyticsClient {
  constructor(
    private readonly url: string,
    private readonly token: () => Promise<string>,
  ) {}

  async load(query: unknown): Promise<unknown> {
    const response = await this.request(query);
    const body = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${body}`);
    return JSON.parse(body);
  }

  /** Reads a response and discards it. @returns its size in bytes */
  async read(query: unknown): Promise<number> {
    const response = await this.request(query, 120_000);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    let bytes = 0;
    for await (const chunk of response.body!) bytes += (chunk as Uint8Array).length;
    return bytes;
  }

  /** @returns the status and the error of a rejected query; otherwise `whole` or `aborted` as the error */
  async tryTo(query: unknown): Promise<{ status: number; error: string }> {
    const response = await this.request(query, 120_000);
    if (!response.ok)
      return { status: response.status, error: ((await response.json()) as { error: string }).error };
    try {
      for await (const _ of response.body!);
      return { status: response.status, error: 'whole' };
    } catch {
      return { status: response.status, error: 'aborted' };
    }
  }

  private async request(query: unknown, limitMs = 30_000): Promise<Response> {
    return fetch(`${this.url}/cubejs-api/v1/load`, {
      method: 'POST',
      headers: { authorization: await this.token(), 'content-type': 'application/json' },
      body: JSON.stringify({ query, queryType: 'multi' }),
      signal: AbortSignal.timeout(limitMs),
    });
  }
}

const TOKEN_MS = 200_000;
export async function analyticsClient(fleet: Fleet, account: string): Promise<AnalyticsClient> {
  const key = await fleet.account(account);
  let token = '';
  let until = 0;
  return new AnalyticsClient(fleet.urls['analytics-query'], async () => {
    if (Date.now() > until) {
      const response = await fetch(`${fleet.urls['token-issuer']}/cube/token`, {
        headers: { 'x-api-key': key },
      });
      token = ((await response.json()) as { token: string }).token;
      until = Date.now() + TOKEN_MS;
    }
    return token;
  });
}
