import { Inject, Injectable } from '@nestjs/common';
import { PerkDirectory } from '@perkway/directory';
import {
  asTags,
  ApiError,
  isTrackingDisabled,
  readCustomAttributes,
  readJourneyId,
  TRACKING_EVENT_VERSION,
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { verifyLink } from '@perkway/signing';
import {
  classifyTraffic,
  completeEvent,
  prepareEvent,
  TrackingService,
  type PreparedEvent,
  type RequestHeaders,
} from '@perkway/tracking';
import { LRUCache } from 'lru-cache';
import type { LinksEnv } from '../env.js';

/**
 * Verified links to remember: popular pages show the same link many times, and verifying costs more than the rest of a
 * request.
 */
const MAX_CACHED_LINKS = 10_000;

export type ClickQuery = Readonly<Record<string, unknown>>;

/** A verified link: the perk it leads to, and what all its clicks have in common. */
export interface ClickLink {
  perk: string;
  click: PreparedEvent;
}

@Injectable()
export class ClicksService {
  private readonly verified = new LRUCache<string, ClickLink>({ max: MAX_CACHED_LINKS });

  constructor(
    @Inject(ENV) private readonly env: LinksEnv,
    private readonly perks: PerkDirectory,
    private readonly tracking: TrackingService,
  ) {}

  /** @throws ApiError LINK_NOT_FOUND for a token that was not signed with LINK_SIGNING_KEYS */
  verify(token: string): ClickLink {
    const known = this.verified.get(token);
    if (known) return known;
    const verified = verifyLink(this.env.LINK_SIGNING_KEYS, token);
    if (!verified) throw new ApiError('LINK_NOT_FOUND');
    const { account, collection, perk } = verified;
    const click = prepareEvent({ v: TRACKING_EVENT_VERSION, type: 'perk_click', account, collection, perk });
    const link = { perk, click };
    this.verified.set(token, link);
    return link;
  }

  /**
   * Returns the offer's URL; a promise only if it is not in memory.
   * @throws ApiError PERK_NOT_FOUND if the perk is deleted or has no valid target, DEPENDENCY_UNAVAILABLE if the target
   * cannot be looked up
   */
  targetOf({ perk }: ClickLink): string | Promise<string> {
    return this.perks.peekTarget(perk) ?? this.findTarget(perk);
  }

  private async findTarget(perk: string): Promise<string> {
    const target = await this.perks.findTarget(perk);
    if (target === undefined) throw new ApiError('PERK_NOT_FOUND');
    return target;
  }

  /** Records a click; every use counts, without deduplication. Resolves when the click is durable. */
  record({ click }: ClickLink, query: ClickQuery, headers: RequestHeaders): Promise<void> {
    if (isTrackingDisabled(query.disableTracking)) return Promise.resolve();
    const details = { journey: readJourneyId(query.journeyId), ...asTags(readCustomAttributes(query)) };
    return this.tracking.trackSerialized(completeEvent(click, classifyTraffic(headers), details));
  }
}
