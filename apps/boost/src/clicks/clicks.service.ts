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
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { verifyOutreachToken, type OutreachPurpose, type OutreachToken } from '@perkway/signing';
import {
  classifyTraffic,
  completeEvent,
  prepareEvent,
  TrackingService,
  type PreparedEvent,
} from '@perkway/tracking';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { BoostEnv } from '../env.js';
import { redirect } from './redirect.js';

const PURPOSES: Record<Channel, OutreachPurpose> = { outreach: 'outreach-click', journey: 'journey-click' };
/**
 * Verified tokens are cached, because all recipients of a message share one reward URL and verifying is the most
 * expensive step.
 */
const MAX_CACHED_TOKENS = 10_000;
const MAX_REMEMBERED_LENGTH = 1_000;

export type Query = Readonly<Record<string, unknown>>;

/** A verified token, and the members that all its clicks have in common. */
interface ClickToken extends OutreachToken {
  /** The journey of clicks that do not name one themselves. */
  journey: string;
  click: PreparedEvent;
}

@Injectable()
export class ClicksService {
  private readonly verified: Record<Channel, LRUCache<string, ClickToken>> = {
    outreach: new LRUCache({ max: MAX_CACHED_TOKENS }),
    journey: new LRUCache({ max: MAX_CACHED_TOKENS }),
  };

  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly perks: PerkDirectory,
    private readonly tracking: TrackingService,
  ) {}

  /**
   * Redirects to the offer once the click is durable. Every click counts, without deduplication (specification 4.3). A
   * `HEAD` request records nothing. Returns a promise only if something must be waited for.
   * @throws ApiError VALIDATION_FAILED without a token, LINK_NOT_FOUND for a token that was not signed here,
   * PERK_NOT_FOUND if the perk was deleted or has no valid URL, 503 if the catalogue is unavailable
   */
  follow(channel: Channel, request: FastifyRequest, reply: FastifyReply): Promise<void> | void {
    const token = this.verify(channel, lastOf((request.query as Query).token));
    const target = this.perks.peekTarget(token.perk);
    return target === undefined
      ? this.findTarget(token.perk).then((found) => this.redirect(token, found, request, reply))
      : this.redirect(token, target, request, reply);
  }

  private async findTarget(perk: string): Promise<string> {
    const target = await this.perks.findTarget(perk);
    if (target === undefined) throw new ApiError('PERK_NOT_FOUND');
    return target;
  }

  private redirect(
    token: ClickToken,
    target: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> | void {
    const query = request.query as Query;
    const isDisabled =
      query.disableTracking === undefined ? token.disableTracking : isTrackingDisabled(query.disableTracking);
    if (isDisabled || request.method === 'HEAD') return redirect(reply, target);
    return this.record(token, query, request).then(() => redirect(reply, target));
  }

  private record(token: ClickToken, query: Query, { headers }: FastifyRequest): Promise<void> {
    const own = readCustomAttributes(query);
    const details = {
      journey: readJourneyId(query.journeyId) ?? token.journey,
      ...asTags(token.attributes ? mergeAttributes(token.attributes, own) : own),
    };
    return this.tracking.trackSerialized(completeEvent(token.click, classifyTraffic(headers), details));
  }

  private verify(channel: Channel, text: unknown): ClickToken {
    if (typeof text !== 'string' || text === '') throw invalidField('token', 'is missing');
    const verified = this.verified[channel];
    const known = verified.get(text);
    if (known) return known;
    const outreach = verifyOutreachToken(this.env.OUTREACH_SIGNING_KEYS, PURPOSES[channel], text);
    if (!outreach) throw new ApiError('LINK_NOT_FOUND');
    const { account, campaign, perk } = outreach;
    const type = 'incentive_click';
    const click = prepareEvent({ v: TRACKING_EVENT_VERSION, type, account, campaign, channel, perk });
    const token = { ...outreach, journey: outreach.journey ?? deriveJourneyId(campaign), click };
    if (text.length <= MAX_REMEMBERED_LENGTH) verified.set(text, token);
    return token;
  }
}
