import { Inject, Injectable } from '@nestjs/common';
import { PerkDirectory } from '@perkway/directory';
import {
  asTags,
  DomainError,
  isTrackingDisabled,
  readCustomAttributes,
  readJourneyId,
  TRACKING_EVENT_VERSION,
  type Caller,
  type TrackingEvent,
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { signOutreachToken } from '@perkway/signing';
import { newEventId, TrackingService } from '@perkway/tracking';
import { deriveJourneyId, type Campaign } from '../campaigns/campaign.js';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';
import type { Query } from '../clicks/clicks.service.js';
import type { BoostEnv } from '../env.js';
import type { RewardsResource, TeaserResource, TeasersResource, TrackDto } from './journey.dto.js';

/** What a client's own pages show of a campaign, and what they report back. */
@Injectable()
export class JourneyService {
  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly campaigns: CampaignDirectory,
    private readonly perks: PerkDirectory,
    private readonly tracking: TrackingService,
  ) {}

  /** Records nothing: views are pixel loads and `track`. @throws DomainError CAMPAIGN_NOT_FOUND, 503 */
  async teasers(caller: Caller, campaignId: string, query: Query): Promise<TeasersResource> {
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    return {
      campaignId,
      journeyId: readJourneyId(query.journeyId) ?? deriveJourneyId(campaignId),
      incentives: await this.incentives(campaign),
    };
  }

  /** As `teasers`, with click URLs that carry the journey and the attributes given. */
  async rewards(caller: Caller, campaignId: string, query: Query): Promise<RewardsResource> {
    const { journeyId, incentives } = await this.teasers(caller, campaignId, query);
    const carried = {
      account: caller.account,
      campaign: campaignId,
      journey: journeyId,
      attributes: readCustomAttributes(query),
      disableTracking: isTrackingDisabled(query.disableTracking),
    };
    const clickUrl = (perk: string) =>
      `${this.env.BOOST_URL}/click?token=${signOutreachToken(this.env.OUTREACH_SIGNING_KEYS, 'journey-click', { ...carried, perk })}`;
    return {
      campaignId,
      journeyId,
      incentives: incentives.map((incentive) => ({ ...incentive, click_url: clickUrl(incentive.perkId) })),
    };
  }

  /**
   * Records what the client reports; there is no budget. A conversion with an `externalId` counts once per account.
   * @returns the journey it was recorded for, when it is durable
   * @throws DomainError CAMPAIGN_NOT_FOUND, PERK_IS_NOT_IN_CAMPAIGN
   */
  async track(caller: Caller, campaignId: string, query: Query, body: TrackDto): Promise<string> {
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    const perk = body.perkId ?? undefined;
    if (perk !== undefined && !campaign.incentives.includes(perk))
      throw new DomainError('PERK_IS_NOT_IN_CAMPAIGN');
    const journey = body.journeyId ?? readJourneyId(query.journeyId) ?? deriveJourneyId(campaignId);
    if (!isTrackingDisabled(query.disableTracking))
      await this.tracking.track(toEvent(campaign, journey, query, body));
    return journey;
  }

  private async incentives({ incentives }: Campaign): Promise<TeaserResource[]> {
    const perks = await Promise.all(incentives.map((id) => this.perks.peek(id) ?? this.perks.find(id)));
    return perks.flatMap((perk, index) =>
      perk
        ? [
            {
              perkId: incentives[index]!,
              title: perk.title,
              callout: perk.callout,
              description: perk.description,
              media: perk.media,
            },
          ]
        : [],
    );
  }
}

function toEvent(campaign: Campaign, journey: string, query: Query, body: TrackDto): TrackingEvent {
  const common = {
    v: TRACKING_EVENT_VERSION,
    id: newEventId(),
    account: campaign.owner,
    at: Date.now(),
    campaign: campaign.id,
    journey,
    ...(body.perkId != null ? { perk: body.perkId } : {}),
    ...asTags(readCustomAttributes(query)),
  } as const;
  if (body.event !== 'conversion') return { ...common, type: body.event, channel: 'journey' };
  return {
    ...common,
    type: 'conversion',
    ...(body.value != null ? { value: body.value } : {}),
    ...(body.currency != null ? { currency: body.currency } : {}),
    ...(body.externalId != null ? { externalId: body.externalId } : {}),
  };
}
