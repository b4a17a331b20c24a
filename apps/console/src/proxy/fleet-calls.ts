import { Injectable } from '@nestjs/common';
import { unavailable } from '@perkway/domain';
import type { Readable } from 'node:stream';
import { FleetAddresses, HOSTS, type Host } from '../fleet/fleet-addresses.js';

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

/**
 * Passes calls on as they are: bodies as they come, answers with their status and headers, refusals too. What the console asks
 * for itself goes by the client (`FleetClients`).
 */
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
}
