import { Inject, Injectable } from '@nestjs/common';
import { PerkDirectory } from '@perkway/directory';
import {
  asTags,
  deriveJourneyId,
  ApiError,
  invalidFields,
  isTrackingDisabled,
  negotiateLanguage,
  readCustomAttributes,
  readJourneyId,
  TRACKING_EVENT_VERSION,
  type Caller,
  type LanguagePreference,
  type ResolvedPerk,
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { signOutreachToken } from '@perkway/signing';
import { classifyTraffic, newEventId, TrackingService } from '@perkway/tracking';
import type { FastifyRequest } from 'fastify';
import type { Campaign } from '../campaigns/campaign.js';
import { CampaignDirectory } from '../campaigns/campaign-directory.js';
import type { Query } from '../clicks/clicks.service.js';
import type { BoostEnv } from '../env.js';
import { keyedEventId } from '../keyed-event-id.js';
import { CampaignViewsService, viewRequestOf } from '../views/campaign-views.service.js';
import type {
  RewardResource,
  RewardsResource,
  TeaserResource,
  TeasersResource,
  TrackDto,
} from './journey.dto.js';

interface Localized<Body> {
  /** Canonical language tag of the texts; undefined if there are no texts. */
  language: string | undefined;
  body: Body;
}

/** Serves teasers and rewards of a campaign to a client's own pages, and records the interactions that they report. */
@Injectable()
export class JourneyService {
  constructor(
    @Inject(ENV) private readonly env: BoostEnv,
    private readonly campaigns: CampaignDirectory,
    private readonly perks: PerkDirectory,
    private readonly tracking: TrackingService,
    private readonly views: CampaignViewsService,
  ) {}

  /**
   * Returns the perks of a campaign without links. Records nothing; pixels and `track` record views.
   *
   * @param preference the languages that the reader prefers
   * @throws ApiError CAMPAIGN_NOT_FOUND, 503
   */
  async teasers(
    caller: Caller,
    campaignId: string,
    query: Query,
    preference: LanguagePreference,
  ): Promise<Localized<TeasersResource>> {
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    const { language, perks } = await this.incentives(campaign, preference);
    return {
      language,
      body: {
        campaignId,
        journeyId: readJourneyId(query.journeyId) ?? deriveJourneyId(campaignId),
        incentives: perks.map(([id, perk]) => toTeaser(id, perk)),
      },
    };
  }

  /**
   * Like `teasers`, plus redemption details and click URLs that carry the journey and the attributes of the request.
   */
  async rewards(
    caller: Caller,
    campaignId: string,
    query: Query,
    preference: LanguagePreference,
  ): Promise<Localized<RewardsResource>> {
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    const { language, perks } = await this.incentives(campaign, preference);
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
   * Records what the client reports. Reports with a server's key are trusted and not limited. A JOURNEY key is public,
   * so its reports are classified like pixel loads, its views share the limit of pixels, and it cannot send the value
   * of a conversion. A conversion with an `externalId` counts once per account, separately for servers and public keys.
   *
   * @returns the journey of the report, once the event is durable; at once if tracking is disabled
   * @throws ApiError VALIDATION_FAILED, CAMPAIGN_NOT_FOUND, PERK_IS_NOT_IN_CAMPAIGN
   */
  async track(caller: Caller, campaignId: string, request: FastifyRequest, body: TrackDto): Promise<string> {
    const isPublic = caller.role === 'JOURNEY';
    if (isPublic) rejectConversionValue(body);
    const view = viewRequestOf(request);
    const { query } = view;
    const campaign = await this.campaigns.ofCaller(caller, campaignId);
    const perk = body.perkId ?? undefined;
    if (perk !== undefined && !campaign.incentives.includes(perk))
      throw new ApiError('PERK_IS_NOT_IN_CAMPAIGN');
    const journey = body.journeyId ?? readJourneyId(query.journeyId) ?? deriveJourneyId(campaignId);
    if (isTrackingDisabled(query.disableTracking)) return journey;
    const { event: type } = body;
    const externalId = type === 'conversion' ? (body.externalId ?? undefined) : undefined;
    const common = {
      v: TRACKING_EVENT_VERSION,
      // Repeated reports of an external id have the same event id, so analytics and the feed store the conversion under
      // one id, whichever report they read first.
      id:
        externalId === undefined
          ? newEventId()
          : keyedEventId(
              this.env.PIXEL_HASH_KEY,
              JSON.stringify(['conversion', campaign.owner, isPublic, externalId]),
            ),
      account: campaign.owner,
      at: view.at,
      campaign: campaign.id,
      journey,
      ...(perk === undefined ? {} : { perk }),
      ...asTags(readCustomAttributes(query)),
    } as const;
    if (type === 'conversion')
      await this.tracking.track({
        ...common,
        type,
        ...(body.value != null ? { value: body.value } : {}),
        ...(body.currency != null ? { currency: body.currency } : {}),
        ...(externalId === undefined ? {} : { externalId }),
        ...(isPublic ? { traffic: classifyTraffic(view.headers) } : {}),
      });
    else if (isPublic)
      await this.views.record(campaign, view, { type, journey, channel: 'journey', ...(perk && { perk }) });
    else await this.tracking.track({ ...common, type, channel: 'journey' });
    return journey;
  }

  /** Returns the existing perks in the order of the campaign, in the first preferred language that any of them has. */
  private async incentives(
    { incentives }: Campaign,
    preference: LanguagePreference,
  ): Promise<{ language?: string; perks: [string, ResolvedPerk][] }> {
    const original = await this.find(incentives);
    const defaultLanguage = original[0]?.[1].language;
    if (defaultLanguage === undefined) return { perks: original };
    const language = negotiateLanguage(preference, (tag) => languageOf(original, tag), defaultLanguage);
    if (language === defaultLanguage) return { language, perks: original };
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

/** Returns the canonical form of a lower-case tag if one of the perks has a translation for it. */
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

/** @throws ApiError VALIDATION_FAILED if the body has the value of a conversion */
function rejectConversionValue(body: TrackDto): void {
  const given = (['value', 'currency'] as const).filter((field) => body[field] != null);
  if (given.length === 0) return;
  const message =
    'requires a key of role USER, because a JOURNEY key is public and anybody could send any value';
  throw invalidFields(given.map((field) => ({ field, message })));
}
