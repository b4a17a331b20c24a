import { Inject, Injectable } from '@nestjs/common';
import { PerkDirectory } from '@perkway/directory';
import {
  asTags,
  DomainError,
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

/** A page or message that is shown often has the same link each time, and verifying costs more than all the rest. */
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
   * @throws DomainError LINK_NOT_FOUND for a token that was not signed here, PERK_NOT_FOUND when its perk is gone or
   * leads nowhere, 503 when nobody can tell
   */
  async resolve(token: string): Promise<{ link: VerifiedLink; target: string }> {
    const link = this.verify(token);
    const target = this.perks.peekTarget(link.perk) ?? (await this.perks.findTarget(link.perk));
    if (target === undefined) throw new DomainError('PERK_NOT_FOUND');
    return { link, target };
  }

  private verify(token: string): VerifiedLink {
    const known = this.verified.get(token);
    if (known) return known;
    const link = verifyLink(this.env.LINK_SIGNING_KEYS, token);
    if (!link) throw new DomainError('LINK_NOT_FOUND');
    this.verified.set(token, link);
    return link;
  }

  /** Every use is a click; there is no deduplication. Resolves when it is durable. */
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
