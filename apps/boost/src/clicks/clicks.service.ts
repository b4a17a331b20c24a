import { Inject, Injectable } from '@nestjs/common';
import { PerkDirectory } from '@perkway/directory';
import {
  asTags,
  deriveJourneyId,
  ApiError,
  invalidField,
  isTrackingDisabled,
  lastOf,
  mergeAttributes,
  readCustomAttributes,
  readJourneyId,
  TRACKING_EVENT_VERSION,
  type Channel,
  type IncentiveClickEvent,
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { verifyOutreachToken, type OutreachPurpose, type OutreachToken } from '@perkway/signing';
import { classifyTraffic, newEventId, TrackingService } from '@perkway/tracking';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { BoostEnv } from '../env.js';

const PURPOSES: Record<Channel, OutreachPurpose> = { outreach: 'outreach-click', journey: 'journey-click' };
/**
 * Verified tokens are cached, because all recipients of a message share one reward URL and verifying is the most
 * expensive step.
 */
const REMEMBERED_TOKENS = 10_000;
const MAX_REMEMBERED_LENGTH = 1_000;

export type Query = Readonly<Record<string, unknown>>;

@Injectable()
export class ClicksService {
  private readonly verified: Record<Channel, LRUCache<string, OutreachToken>> = {
    outreach: new LRUCache({ max: REMEMBERED_TOKENS }),
    journey: new LRUCache({ max: REMEMBERED_TOKENS }),
  };

  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly perks: PerkDirectory,
    private readonly tracking: TrackingService,
  ) {}

  /**
   * Records the click and returns where it leads. Every click counts, without deduplication (specification 4.3).
   * A `HEAD` request records nothing.
   * @returns the offer URL, once the click is durable
   * @throws ApiError VALIDATION_FAILED without a token, LINK_NOT_FOUND for a token that was not signed here,
   * PERK_NOT_FOUND if the perk was deleted or has no valid URL, 503 if the catalogue is unavailable
   */
  async follow(channel: Channel, request: FastifyRequest): Promise<string> {
    const query = request.query as Query;
    const token = this.verify(channel, lastOf(query.token));
    const target = this.perks.peekTarget(token.perk) ?? (await this.perks.findTarget(token.perk));
    if (target === undefined) throw new ApiError('PERK_NOT_FOUND');
    const isDisabled =
      query.disableTracking === undefined ? token.disableTracking : isTrackingDisabled(query.disableTracking);
    if (!isDisabled && request.method !== 'HEAD') await this.record(channel, token, query, request);
    return target;
  }

  private record(
    channel: Channel,
    token: OutreachToken,
    query: Query,
    request: FastifyRequest,
  ): Promise<void> {
    const own = readCustomAttributes(query);
    const event: IncentiveClickEvent = {
      v: TRACKING_EVENT_VERSION,
      type: 'incentive_click',
      id: newEventId(),
      account: token.account,
      at: Date.now(),
      campaign: token.campaign,
      journey: readJourneyId(query.journeyId) ?? token.journey ?? deriveJourneyId(token.campaign),
      channel,
      perk: token.perk,
      traffic: classifyTraffic(request.headers),
      ...asTags(token.attributes ? mergeAttributes(token.attributes, own) : own),
    };
    return this.tracking.track(event);
  }

  private verify(channel: Channel, text: unknown): OutreachToken {
    if (typeof text !== 'string' || text === '') throw invalidField('token', 'is missing');
    const verified = this.verified[channel];
    const known = verified.get(text);
    if (known) return known;
    const token = verifyOutreachToken(this.env.OUTREACH_SIGNING_KEYS, PURPOSES[channel], text);
    if (!token) throw new ApiError('LINK_NOT_FOUND');
    if (text.length <= MAX_REMEMBERED_LENGTH) verified.set(text, token);
    return token;
  }
}
