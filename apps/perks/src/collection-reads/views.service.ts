import { Injectable } from '@nestjs/common';
import { readCustomAttributes } from '@perkway/domain';
import { classifyTraffic, newEventId, TrackingService } from '@perkway/tracking';
import type { IncomingHttpHeaders } from 'node:http';
import type { Collection } from '../catalog/collection.js';
import { perkView } from './perk-view.js';
import type { ReadRequest } from './read-request.js';

const hasAny = (query: object): boolean => {
  for (const _ in query) return true;
  return false;
};

const isSuppressed = (headers: IncomingHttpHeaders): boolean => {
  const given = headers['x-disable-view-tracking'];
  return given !== undefined && /^(?:true|1)$/i.test(String(given));
};

@Injectable()
export class ViewsService {
  constructor(private readonly tracking: TrackingService) {}

  /**
   * Records that a customer saw the perks of a response, unless the read suppresses it by header. A 304 counts as a
   * view too: the customers of a client that revalidates its copy still see the perks
   * (docs/adr/0010-conditional-reads.md).
   * @returns a promise that resolves when the view is durable; undefined if there is nothing to record
   */
  record(
    { caller, headers, method, query }: ReadRequest,
    collection: Collection,
    shownPerks: string | undefined,
  ): Promise<void> | undefined {
    if (method === 'HEAD' || shownPerks === undefined || isSuppressed(headers)) return undefined;
    const attributes = hasAny(query) ? readCustomAttributes(query) : undefined;
    // A server reads on behalf of people. A JOURNEY key is public, so its reads are classified like pixel loads.
    const traffic = caller?.role === 'JOURNEY' ? classifyTraffic(headers) : undefined;
    const view = perkView(newEventId(), collection, shownPerks, { attributes, traffic });
    return this.tracking.trackSerialized(view);
  }
}
