import { Inject, Injectable } from '@nestjs/common';
import { PerkDirectory } from '@perkway/directory';
import {
  asTags,
  ApiError,
  isTrackingDisabled,
  readCustomAttributes,
  readJourneyId,
  TRACKING_EVENT_VERSION,
  type PerkClickEvent,
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { verifyLink, type VerifiedLink } from '@perkway/signing';
import { classifyTraffic, newEventId, TrackingService, type RequestHeaders } from '@perkway/tracking';
import { LRUCache } from 'lru-cache';
import type { LinksEnv } from '../env.js';

/**
 * Verified links to remember: popular pages show the same link many times, and verifying costs more than the rest of a
 * request.
 */
const REMEMBERED_LINKS = 10_000;

export type ClickQuery = Readonly<Record<string, unknown>>;

@Injectable()
export class ClicksService {
  private readonly verified = new LRUCache<string, VerifiedLink>({ max: REMEMBERED_LINKS });

  constructor(
    @Inject(ENV) private readonly env: LinksEnv,
    private readonly perks: PerkDirectory,
    private readonly tracking: TrackingService,
  ) {}

  /**
   * Verifies the token and returns the offer's URL.
   * @throws ApiError LINK_NOT_FOUND for a token that was not signed here, PERK_NOT_FOUND if the perk is deleted or has
   * no valid target, DEPENDENCY_UNAVAILABLE if the target cannot be looked up
   */
  async resolve(token: string): Promise<{ link: VerifiedLink; target: string }> {
    const link = this.verify(token);
    const target = this.perks.peekTarget(link.perk) ?? (await this.perks.findTarget(link.perk));
    if (target === undefined) throw new ApiError('PERK_NOT_FOUND');
    return { link, target };
  }

  private verify(token: string): VerifiedLink {
    const known = this.verified.get(token);
    if (known) return known;
    const link = verifyLink(this.env.LINK_SIGNING_KEYS, token);
    if (!link) throw new ApiError('LINK_NOT_FOUND');
    this.verified.set(token, link);
    return link;
  }

  /** Records a click; every use counts, without deduplication. Resolves when the click is durable. */
  record(link: VerifiedLink, query: ClickQuery, headers: RequestHeaders): Promise<void> {
    if (isTrackingDisabled(query.disableTracking)) return Promise.resolve();
    const event: PerkClickEvent = {
      v: TRACKING_EVENT_VERSION,
      type: 'perk_click',
      id: newEventId(),
      account: link.account,
      at: Date.now(),
      collection: link.collection,
      perk: link.perk,
      traffic: classifyTraffic(headers),
      ...asTags(readCustomAttributes(query)),
    };
    const journey = readJourneyId(query.journeyId);
    if (journey !== undefined) event.journey = journey;
    return this.tracking.track(event);
  }
}
