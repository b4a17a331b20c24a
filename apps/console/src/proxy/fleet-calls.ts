import { Injectable } from '@nestjs/common';
import { ApiError, unavailable } from '@perkway/domain';
import type { Readable } from 'node:stream';
import { FleetAddresses, HOSTS, type Host } from '../fleet/fleet-addresses.js';

const TIMEOUT_MS = 15_000;
/** For a read of the event feed, which may wait 20 seconds for an event. */
export const FEED_TIMEOUT_MS = 20_000 + TIMEOUT_MS;
/** For uploads and slow queries. */
export const LONG_TIMEOUT_MS = 10 * 60_000;

export interface FleetCall {
  host: Host;
  method: string;
  /** Path and query as the host expects them. */
  address: string;
  headers: Record<string, string>;
  body?: string | Readable;
  /** Aborts the call and the response body. */
  signal?: AbortSignal;
  /** Timeout until the response headers arrive; for `read`, until the body has arrived. */
  timeoutMs?: number;
}

/**
 * Sends the calls of the proxy, also with streamed bodies, and returns responses of any status. Other calls of the
 * console use `FleetClients`.
 */
@Injectable()
export class FleetCalls {
  constructor(private readonly addresses: FleetAddresses) {}

  /** Returns the response, whatever its status. @throws ApiError DEPENDENCY_UNAVAILABLE if none arrives in time */
  async send({
    host,
    method,
    address,
    headers,
    body,
    signal,
    timeoutMs = TIMEOUT_MS,
  }: FleetCall): Promise<Response> {
    const base = /^\/admin(?:[/?]|$)/.test(address)
      ? this.addresses.management(host)
      : this.addresses.of(host);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      return await fetch(`${base}${address}`, {
        method,
        headers,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([late.signal, signal]) : late.signal,
        ...(body === undefined ? {} : { body, duplex: 'half' }),
      } as RequestInit);
    } catch (error) {
      throw unavailable(HOSTS[host].serviceName, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Like `send`, and reads the response body by the same deadline. @throws ApiError DEPENDENCY_UNAVAILABLE */
  async read(call: FleetCall): Promise<{ status: number; headers: Headers; body: string }> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), call.timeoutMs ?? TIMEOUT_MS);
    try {
      const response = await this.send({ ...call, signal: late.signal });
      return { status: response.status, headers: response.headers, body: await response.text() };
    } catch (error) {
      throw error instanceof ApiError ? error : unavailable(HOSTS[call.host].serviceName, error);
    } finally {
      clearTimeout(timer);
    }
  }
}
