import { performance } from 'node:perf_hooks';
import type { Fleet } from '../fleet.js';

export const write = (line: string): void => void process.stdout.write(`${line}\n`);
export const ms = (value: number): string => value.toFixed(1).padStart(8);
/** Writes a figure and its target. @returns how many were missed: 0 or 1 */
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

export class Asker {
  constructor(
    private readonly url: string,
    private readonly token: () => Promise<string>,
  ) {}

  async load(query: unknown): Promise<unknown> {
    const answer = await this.ask(query);
    const body = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${body}`);
    return JSON.parse(body);
  }

  /** Reads an answer and keeps nothing of it. @returns its bytes */
  async read(query: unknown): Promise<number> {
    const answer = await this.ask(query, 120_000);
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    let bytes = 0;
    for await (const chunk of answer.body!) bytes += (chunk as Uint8Array).length;
    return bytes;
  }

  /** @returns what an answer says without its rows */
  async tryTo(query: unknown): Promise<{ status: number; error: string }> {
    const answer = await this.ask(query, 120_000);
    if (!answer.ok)
      return { status: answer.status, error: ((await answer.json()) as { error: string }).error };
    try {
      for await (const _ of answer.body!);
      return { status: answer.status, error: 'whole' };
    } catch {
      return { status: answer.status, error: 'broken off' };
    }
  }

  private async ask(query: unknown, limitMs = 30_000): Promise<Response> {
    return fetch(`${this.url}/cubejs-api/v1/load`, {
      method: 'POST',
      headers: { authorization: await this.token(), 'content-type': 'application/json' },
      body: JSON.stringify({ query, queryType: 'multi' }),
      signal: AbortSignal.timeout(limitMs),
    });
  }
}

const TOKEN_MS = 200_000;
export async function asker(fleet: Fleet, account: string): Promise<Asker> {
  const key = await fleet.account(account);
  let token = '';
  let until = 0;
  return new Asker(fleet.urls['analytics-query'], async () => {
    if (Date.now() > until) {
      const answer = await fetch(`${fleet.urls['token-issuer']}/cube/token`, {
        headers: { 'x-api-key': key },
      });
      token = ((await answer.json()) as { token: string }).token;
      until = Date.now() + TOKEN_MS;
    }
    return token;
  });
}
