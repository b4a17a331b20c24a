import { Inject, Injectable } from '@nestjs/common';
import { PerkDirectory } from '@perkway/directory';
import {
  asTags,
  deriveJourneyId,
  DomainError,
  isTrackingDisabled,
  negotiateLanguage,
  readCustomAttributes,
  readJourneyId,
  TRACKING_EVENT_VERSION,
  type Caller,
  type LanguageWish,
  type ResolvedPerk,
  type TrackingEvent,
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { signOutreachToken } from '@perkway/signing';
import { newEventId, TrackingService } from '@perkway/tracking';
import type { Campaign } from '../campaigns/campaign.js';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';
import type { Query } from '../clicks/clicks.service.js';
import type { BoostEnv } from '../env.js';
import type {
  RewardResource,
  RewardsResource,
  TeaserResource,
  TeasersResource,
  TrackDto,
} from './journey.dto.js';

interface Localized<Body> {
  /** Of the texts, in canonical form; undefined where there are none. */
  language: string | undefined;
  body: Body;
}

/** What a client's own pages show of a campaign, and what they report back. */
@Injectable()
export class JourneyService {
  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly campaigns: CampaignDirectory,
    private readonly perks: PerkDirectory,
    private readonly tracking: TrackingService,
  ) {}

  /**
   * Records nothing: views are pixel loads and `track`.
   * @param wish the language of the texts
   * @throws DomainError CAMPAIGN_NOT_FOUND, 503
   */
  async teasers(
    caller: Caller,
    campaignId: string,
    query: Query,
    wish: LanguageWish,
  ): Promise<Localized<TeasersResource>> {
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    const { language, perks } = await this.incentives(campaign, wish);
    return {
      language,
      body: {
        campaignId,
        journeyId: readJourneyId(query.journeyId) ?? deriveJourneyId(campaignId),
        incentives: perks.map(([id, perk]) => toTeaser(id, perk)),
      },
    };
  }

  /** As `teasers`, with what is needed to redeem, and click URLs that carry the journey and the attributes given. */
  async rewards(
    caller: Caller,
    campaignId: string,
    query: Query,
    wish: LanguageWish,
  ): Promise<Localized<RewardsResource>> {
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    const { language, perks } = await this.incentives(campaign, wish);
    const journeyId = readJourneyId(query.journeyId) ?? deriveJourneyId(campaignId);
    const carried = {
      account: caller.account,
      campaign: campaignId,
      journey: journeyId,
      attributes: readCustomAttributes(query),
      disableTracking: isTrackingDisabled(query.disableTracking),
    };
    const clickUrl = (perk: string) =>
      `${this.env.BOOST_URL}/click?token=${signOutreachToken(this.env.OUTREACH_SIGNING_KEYS, 'journey-click', { ...carried, perk })}`;
    const toReward = (id: string, perk: ResolvedPerk): RewardResource => ({
      ...toTeaser(id, perk),
      redemption_note: perk.redemptionNote,
      details: perk.details,
      ...(perk.coupon === null ? {} : { coupon: perk.coupon }),
      click_url: clickUrl(id),
    });
    const incentives = perks.map(([id, perk]) => toReward(id, perk));
    return { language, body: { campaignId, journeyId, incentives } };
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

  /** The perks that there are, in the order of the campaign, in the first wanted language that any of them has. */
  private async incentives(
    { incentives }: Campaign,
    wish: LanguageWish,
  ): Promise<{ language?: string; perks: [string, ResolvedPerk][] }> {
    const original = await this.find(incentives);
    const standard = original[0]?.[1].language;
    if (standard === undefined) return { perks: original };
    const language = negotiateLanguage(wish, (tag) => languageOf(original, tag), standard);
    if (language === standard) return { language, perks: original };
    return {
      language,
      perks: await this.find(
        original.map(([id]) => id),
        language,
      ),
    };
  }

  private async find(ids: string[], language?: string): Promise<[string, ResolvedPerk][]> {
    const perks = await Promise.all(
      ids.map((id) => this.perks.peek(id, language) ?? this.perks.find(id, language)),
    );
    return ids.flatMap((id, index) => (perks[index] ? [[id, perks[index]]] : []));
  }
}

/** The canonical form of a lower-case tag, if one of the perks is translated into it. */
function languageOf(perks: [string, ResolvedPerk][], tag: string): string | undefined {
  for (const [, { languages }] of perks)
    for (const language of languages) if (language.toLowerCase() === tag) return language;
  return undefined;
}

const toTeaser = (perkId: string, { title, callout, description, media }: ResolvedPerk): TeaserResource => ({
  perkId,
  title,
  callout,
  description,
  media,
});

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
