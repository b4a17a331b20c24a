import { Inject, Injectable } from '@nestjs/common';
import {
  asTags,
  readCustomAttributes,
  TRACKING_EVENT_VERSION,
  type CampaignViewEvent,
} from '@perkway/domain';
import { clientIp, ENV, networkOf } from '@perkway/platform';
import { classifyTraffic, TrackingService, type RequestHeaders } from '@perkway/tracking';
import type { FastifyRequest } from 'fastify';
import type { Campaign } from '../campaigns/campaign.js';
import type { Query } from '../clicks/clicks.service.js';
import type { BoostEnv } from '../env.js';
import { keyedEventId } from '../keyed-event-id.js';
import { ViewLimiter } from './view-limiter.js';

/** The parts of a request that a view needs. Copied, because the connection may be gone once the campaign is known. */
export interface ViewRequest {
  /** The source address; for IPv6 its /64, because a customer usually owns the whole /64. */
  network: string;
  query: Query;
  headers: RequestHeaders;
  /** Arrival time in epoch milliseconds. */
  at: number;
}

/** Must be called before the first await. */
export const viewRequestOf = (request: FastifyRequest): ViewRequest => ({
  network: networkOf(clientIp(request)),
  query: request.query as Query,
  headers: request.headers,
  at: Date.now(),
});

type View = Pick<CampaignViewEvent, 'type' | 'journey' | 'channel' | 'perk'>;

/**
 * Records views that anybody can send: pixel loads, and `/track` with a JOURNEY key. Counts at most one view, teaser or
 * reward, per second, campaign and source address; an IPv6 /64 counts as one (specification section 8).
 */
@Injectable()
export class CampaignViewsService {
  private readonly limiter = new ViewLimiter();

  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly tracking: TrackingService,
  ) {}

  /** Resolves once this view, or the one already counted in this second, is durable. */
  record(campaign: Campaign, { network, query, headers, at }: ViewRequest, view: View): Promise<void> {
    const second = Math.floor(at / 1_000);
    return this.limiter.once(second, `${campaign.id} ${network}`, () =>
      this.tracking.track({
        v: TRACKING_EVENT_VERSION,
        ...view,
        id: keyedEventId(this.env.PIXEL_HASH_KEY, `${campaign.id}\n${network}\n${second}`),
        account: campaign.owner,
        // The time is part of the event's primary key, so this is the start of the second, not the moment.
        at: second * 1_000,
        campaign: campaign.id,
        traffic: classifyTraffic(headers),
        ...asTags(readCustomAttributes(query)),
      }),
    );
  }
}
