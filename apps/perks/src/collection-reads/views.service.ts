import { Injectable } from '@nestjs/common';
import { readCustomAttributes } from '@perkway/domain';
import { newEventId, TrackingService } from '@perkway/tracking';
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
   * Records that a customer saw the perks of an answer, unless the read says that nobody did. A 304 is a view as well:
   * the customers of a client that revalidates its copy see the perks just the same, and a content sync suppresses the
   * view by its header in both cases (docs/adr/0010-conditional-reads.md).
   * @returns resolves when it is durable; undefined if there is nothing to record
   */
  record(
    { headers, method, query }: ReadRequest,
    collection: Collection,
    shownPerks: string | undefined,
  ): Promise<void> | undefined {
    if (method === 'HEAD' || shownPerks === undefined || isSuppressed(headers)) return undefined;
    const attributes = hasAny(query) ? readCustomAttributes(query) : undefined;
    return this.tracking.trackSerialized(perkView(newEventId(), collection, shownPerks, attributes));
  }
}
