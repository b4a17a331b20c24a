import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import { loadRows, ofCampaign, within } from '../api/analytics';
import { responseOf, perkway } from '../api/perkway';
import { usePerkInfo } from '../api/perk-info';
import type { Campaign } from '../api/types';
import {
  hasPlaceholder,
  isPrivateUrl,
  isUsablePlaceholder,
  linkHtml,
  personalUrl,
  pixelHtml,
  PLACEHOLDERS,
} from '../mail-snippets';
import { mailingOf, OPTIONAL_UTM } from '../mailing';
import { daysAgo } from '../dates';
import { formatExactMoment } from '../format';
import { CopyButton } from '../parts/copy-button';
import { SelectField, TextField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { PerkPicture } from '../parts/perk-picture';
import { Refreshed } from '../parts/refreshed';
import { Card } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { useScrollToHash } from '../scroll-to-hash';
import { texts } from '../texts';

const t = texts.send;
/** Each perk needs a call for its URL. */
const PERKS_AT_ONCE = 12;
const SOURCES = 'campaign_funnel.utm_source';
const MOST_SOURCES = 50;
type Pixel = keyof typeof t.pixelOf;

/** The sources of the past year, the largest first, so that a mailing can get the same name again. */
const useKnownSources = () =>
  useQuery({
    queryKey: ['known-sources'],
    queryFn: async () => {
      const rows = await loadRows({
        measures: ['campaign_funnel.journeys'],
        dimensions: [SOURCES],
        ...within('campaign_funnel', [daysAgo(365), daysAgo(0)]),
        filters: [{ member: SOURCES, operator: 'set' }],
        order: { 'campaign_funnel.journeys': 'desc' },
        limit: MOST_SOURCES,
      });
      return rows.map((row) => String(row[SOURCES]));
    },
  }).data ?? [];

/** Leads through a mailing in steps, with a pixel that counts views and a tracked URL of each perk. */
export default function CampaignSend({ campaign }: { campaign: Campaign }) {
  const { search } = useLocation();
  const { valueOf, set } = useSearchFilters();
  const [own, setOwn] = useState('');
  const [shown, setShown] = useState(PERKS_AT_ONCE);
  const sources = useKnownSources();
  const sourcesId = useId();
  const { mailer, utm } = mailingOf(valueOf);
  const placeholder = mailer === 'own' ? own.trim() : PLACEHOLDERS[mailer];
  const isUsable = isUsablePlaceholder(placeholder);
  const pixel: Pixel = valueOf('pixel') === 'teaser' ? 'teaser' : 'reward';
  const { id: campaignId, incentives } = campaign;
  const perks = incentives.slice(0, shown);
  const info = usePerkInfo(perks.map((perkId) => ({ perkId, campaignId })));
  const snippets = useQuery({
    queryKey: ['campaign-send', campaignId, utm, perks],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const [pixels, { incentives: offered }, urls] = await Promise.all([
        responseOf(perkway.boost.getPixelUrls({ campaignId, ...utm }, { signal })),
        responseOf(perkway.boost.getTeasers({ campaignId }, { signal })),
        Promise.all(
          perks.map((perkId) =>
            // A perk may have been deleted since the campaign was saved.
            responseOf(perkway.boost.generateRewardUrl({ campaignId, perkId, ...utm }, { signal })).catch(
              () => null,
            ),
          ),
        ),
      ]);
      const titles = new Map(offered.map(({ perkId, title }) => [perkId, title]));
      return {
        pixels,
        links: perks.flatMap((perkId, index) =>
          urls[index] ? [{ perkId, title: titles.get(perkId) ?? perkId, url: urls[index] }] : [],
        ),
      };
    },
  });

  useScrollToHash(!isUsable || snippets.isSuccess);

  // With the fields of this screen, because the way back to step 5 needs them.
  const forLinks = new URLSearchParams(search);
  for (const [name, value] of Object.entries({ make: 'many', campaign: campaignId, send: campaignId }))
    forLinks.set(name, value);

  /** Shows what needs the URLs, once they and the placeholder are known. */
  const withUrls = (show: (urls: NonNullable<typeof snippets.data>) => ReactNode) =>
    isUsable ? (
      <Loaded query={snippets} lines={4}>
        {show}
      </Loaded>
    ) : (
      <p>{t.needsPlaceholder}</p>
    );

  return (
    <>
      <Card title={t.mailerStep}>
        <div className="form">
          <SelectField
            label={t.mailer}
            hint={t.mailerHint}
            value={mailer}
            options={t.mailers}
            onValue={(value) => set('mailer', value)}
          />
          {mailer === 'own' ? (
            <TextField
              label={t.own}
              hint={t.ownHint}
              error={own && !isUsable ? t.ownError : null}
              value={own}
              onValue={setOwn}
            />
          ) : (
            <div className="field">
              <span className="legend-label">{t.placeholder}</span>
              <code data-snippet="placeholder">{placeholder}</code>
              <p className="hint">{t.placeholderHint}</p>
            </div>
          )}
          <TextField
            label={t.source}
            hint={sources.length > 0 ? `${t.sourceHint} ${t.knownSources}` : t.sourceHint}
            list={sourcesId}
            maxLength={200}
            value={valueOf('utm_source')}
            placeholder={utm.utm_source}
            onValue={(value) => set('utm_source', value)}
          />
          <datalist id={sourcesId}>
            {sources.map((source) => (
              <option key={source} value={source} />
            ))}
          </datalist>
          {OPTIONAL_UTM.map((name) => (
            <TextField
              key={name}
              label={t.utm[name]}
              hint={t.utmHint[name]}
              maxLength={200}
              value={valueOf(name)}
              onValue={(value) => set(name, value)}
            />
          ))}
        </div>
      </Card>
      <Card title={t.pixelStep}>
        <div className="stack">
          <p>{t.pixelText}</p>
          <SelectField
            label={t.pixel}
            value={pixel}
            options={t.pixelWhen}
            onValue={(value) => set('pixel', value)}
          />
          {withUrls(({ pixels }) => (
            <>
              {isPrivateUrl(pixels.teaser) && (
                <p className="failed" role="alert">
                  {t.privateHost(new URL(pixels.teaser).host)}
                </p>
              )}
              <Snippet id={pixel} name={t.pixelOf[pixel]} html={pixelHtml(pixels[pixel], placeholder)} />
            </>
          ))}
        </div>
      </Card>
      <Card title={t.linkStep}>
        <div className="stack">
          <p>{t.linkText}</p>
          {withUrls(({ links }) => (
            <>
              {links.length > 1 && (
                <div className="actions">
                  <CopyButton
                    label={t.copyAll(links.length)}
                    text={links.map(({ url, title }) => linkHtml(url, placeholder, title)).join('\n')}
                  />
                </div>
              )}
              {links.length === 0 && <p>{t.noPerks}</p>}
              {links.map(({ perkId, title, url }) => (
                <Snippet
                  key={perkId}
                  id={perkId}
                  name={title}
                  picture={info?.get(perkId)?.picture}
                  url={personalUrl(url, placeholder)}
                  html={linkHtml(url, placeholder, title)}
                />
              ))}
              {incentives.length > shown && (
                <button type="button" className="button" onClick={() => setShown(shown + PERKS_AT_ONCE)}>
                  {texts.more}
                </button>
              )}
            </>
          ))}
        </div>
      </Card>
      <Card title={t.giftStep}>
        <div className="stack">
          <p>{t.giftText}</p>
          <p className="hint">{texts.giftCards.recipientsSee}</p>
          <ol className="numbered">
            <li>{t.giftExport(t.idColumns[mailer] ?? t.idColumn(isUsable ? placeholder : null))}</li>
            <li>{t.giftMake}</li>
            <li>{t.giftAdd(texts.giftCards.addLinks)}</li>
            <li>{t.giftImport}</li>
          </ol>
          <div className="actions">
            <Link className="button" to={`/gift-cards?${forLinks}`}>
              {t.makeLinks}
            </Link>
            <Link to="/documentation/link-jobs">{t.aboutLinks}</Link>
          </div>
        </div>
      </Card>
      <Card id="test" title={t.testStep}>
        <div className="stack">
          <p>{t.testText}</p>
          <LatestEvents {...{ campaignId, pixel, utm, placeholder }} />
        </div>
      </Card>
      <Card title={t.sendStep}>
        <p>
          {t.sendText} <Link to={`/campaigns/${encodeURIComponent(campaignId)}`}>{t.toResults}</Link>
        </p>
      </Card>
    </>
  );
}

interface LatestEventsProps {
  campaignId: string;
  pixel: Pixel;
  /** The UTM parameters that the pixel and the links carry. */
  utm: Record<string, string>;
  placeholder: string;
}

interface Latest {
  at: string;
  /** Null for events from servers. */
  trafficClass: string | null;
  /** The rule that determined the class. */
  reason: string;
  journeyId: string;
  /** Undefined for pixels, which name no perk. */
  perk: string | undefined;
}

/** Returns the mailing's latest event in the last hour, also of bots and mail proxies; null without one. */
async function loadLatest(
  cube: 'teaser_views' | 'reward_views' | 'incentive_clicks',
  { campaignId, utm }: Pick<LatestEventsProps, 'campaignId' | 'utm'>,
): Promise<Latest | null> {
  const time = `${cube}.occurred_at`;
  const dimensions = ['traffic_class', 'traffic_reason', 'journey_id', 'perk_id', 'perk_title'];
  const [row] = await loadRows({
    measures: [`${cube}.count`],
    dimensions: dimensions.map((name) => `${cube}.${name}`),
    timeDimensions: [{ dimension: time, granularity: 'second', dateRange: 'from 60 minutes ago to now' }],
    filters: [
      ...ofCampaign(cube, campaignId),
      ...Object.entries(utm).map(([name, value]) => ({
        member: `${cube}.${name}`,
        operator: 'equals' as const,
        values: [value],
      })),
    ],
    order: { [time]: 'desc' },
    limit: 1,
  });
  if (!row) return null;
  const [trafficClass, reason, journeyId, perkId, perkTitle] = dimensions.map(
    (name) => row[`${cube}.${name}`] as string | null,
  );
  return {
    at: formatExactMoment(String(row[`${time}.second`])),
    trafficClass: trafficClass ?? null,
    reason: String(reason),
    journeyId: String(journeyId),
    perk: perkTitle ?? perkId ?? undefined,
  };
}

/**
 * Says when the pixel was last loaded and a link last clicked, for which recipient, whether the results leave that out,
 * and whether the mailer has replaced the placeholder.
 */
function LatestEvents({ placeholder, ...mailing }: LatestEventsProps) {
  const latest = useQuery({
    queryKey: ['latest-events', mailing],
    placeholderData: keepPreviousData,
    queryFn: () =>
      Promise.all([loadLatest(`${mailing.pixel}_views`, mailing), loadLatest('incentive_clicks', mailing)]),
    staleTime: 0,
    ...useLiveInterval(),
  });
  return (
    <>
      <Loaded query={latest} lines={1}>
        {([view, click]) => {
          const arrived = Object.entries({ view, click }).flatMap(([what, event]) =>
            event ? { what, ...event } : [],
          );
          return (
            <>
              <div role="status" className="stack">
                <p>
                  <strong>{t.arrived(view?.at, click?.at)}</strong>
                </p>
                {arrived.map((event) => (
                  <Arrived key={event.what} {...event} />
                ))}
              </div>
              {arrived
                .filter(({ journeyId }) => hasPlaceholder(journeyId, placeholder))
                .map(({ what }) => (
                  <p key={what} className="failed" role="alert">
                    {t.notReplaced(what)}
                  </p>
                ))}
            </>
          );
        }}
      </Loaded>
      <div className="actions">
        <Refreshed queries={[latest]} />
      </div>
      <p className="hint">{t.arrivedHint}</p>
    </>
  );
}

/** Names the recipient and the perk of an event, and says why the results leave it out if it came from no person. */
function Arrived({ what, journeyId, perk, trafficClass, reason }: { what: string } & Latest) {
  const by = t.leftOutBy[trafficClass ?? ''];
  return (
    <>
      <p>{t.arrivedFrom(what, journeyId, perk)}</p>
      {by && <p>{t.leftOut(what, by, reason)}</p>}
    </>
  );
}

interface SnippetProps {
  id: string;
  name: string;
  picture?: string | null;
  /** For the link dialog of a mailer's editor, which escapes by itself. */
  url?: string;
  html: string;
}

const Snippet = ({ id, name, picture, url, html }: SnippetProps) => (
  <section className="stack">
    <div className="code-head">
      <h3 className="with-picture">
        {picture !== undefined && <PerkPicture src={picture} name={name} />}
        {name}
      </h3>
      <span className="actions">
        {url && <CopyButton text={url} label={t.copyUrl} of={name} />}
        <CopyButton text={html} label={t.copyHtml} of={name} />
      </span>
    </div>
    <pre className="code-block">
      <code data-snippet={id}>{html}</code>
    </pre>
  </section>
);
