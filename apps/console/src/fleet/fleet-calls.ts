import { Injectable } from '@nestjs/common';
import { DomainError, unavailable } from '@perkway/domain';
import type { Readable } from 'node:stream';
import { FleetAddresses, HOSTS, type Host } from './fleet-addresses.js';

const PATIENCE_MS = 15_000;
/** For what may take long to come, or to be worked out. */
export const LONG_PATIENCE_MS = 10 * 60_000;

export interface FleetCall {
  host: Host;
  method: string;
  /** Path and query, as the host takes them. */
  address: string;
  headers: Record<string, string>;
  body?: string | Readable;
  /** Gives up; what has come of the answer ends. */
  signal?: AbortSignal;
  /** Until the answer begins. */
  patienceMs?: number;
}

/** Asks the hosts of the fleet over HTTP, as any client of theirs. */
@Injectable()
export class FleetCalls {
  constructor(private readonly addresses: FleetAddresses) {}

  /** The answer, whatever its status. @throws DomainError DEPENDENCY_UNAVAILABLE when there is none in time */
  async send({
    host,
    method,
    address,
    headers,
    body,
    signal,
    patienceMs = PATIENCE_MS,
  }: FleetCall): Promise<Response> {
    const base = /^\/admin(?:[/?]|$)/.test(address)
      ? this.addresses.management(host)
      : this.addresses.of(host);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), patienceMs);
    try {
      return await fetch(`${base}${address}`, {
        method,
        headers,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([late.signal, signal]) : late.signal,
        ...(body === undefined ? {} : { body, duplex: 'half' }),
      } as RequestInit);
    } catch (error) {
      throw unavailable(HOSTS[host].away, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What a call answers, for the console itself. @throws what the host refuses with, as far as it has a code of ours */
  async json<Body>(call: FleetCall): Promise<Body> {
    const answer = await this.send({ ...call, headers: { accept: 'application/json', ...call.headers } });
    if (answer.ok) return (await answer.json()) as Body;
    const { host, address } = call;
    const code = await codeOf(answer);
    if (answer.status === 401) throw new DomainError('SESSION_ENDED');
    if (answer.status === 404) throw new DomainError('NOT_FOUND', code);
    throw unavailable(
      HOSTS[host].away,
      new Error(`${call.method} ${address.split('?', 1)[0]} answered ${answer.status} ${code}`),
    );
  }
}

/** The code of a refusal: of a problem, or the whole of a plain text. */
export async function codeOf(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    return typeof code === 'string' ? code : 'UNEXPECTED_ANSWER';
  } catch {
    return /^[A-Z_]{1,64}$/.test(text) ? text : 'UNEXPECTED_ANSWER';
  }
}
