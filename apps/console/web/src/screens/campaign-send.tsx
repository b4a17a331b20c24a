import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { loadRows, within } from '../api/analytics';
import { responseOf, perkway } from '../api/perkway';
import { usePerkInfo } from '../api/perk-info';
import type { Campaign } from '../api/types';
import {
  isPrivateUrl,
  isUsablePlaceholder,
  linkHtml,
  personalUrl,
  pixelHtml,
  PLACEHOLDERS,
  type Mailer,
} from '../mail-snippets';
import { daysAgo } from '../dates';
import { CopyButton } from '../parts/copy-button';
import { SelectField, TextField } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { PerkPicture } from '../parts/perk-picture';
import { Card } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { texts } from '../texts';

const t = texts.send;
/** Each perk needs a call for its URL. */
const PERKS_AT_ONCE = 12;
const SOURCES = 'campaign_funnel.utm_source';
const MOST_SOURCES = 50;
/** What tells the mailings of a source apart. URLs have them only if they are filled in. */
const OPTIONAL = ['utm_campaign', 'utm_content'] as const;

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

/** Makes what goes into a mailing: a pixel that counts views, and a tracked URL of each perk. */
export default function CampaignSend({ campaign }: { campaign: Campaign }) {
  const { valueOf, set } = useSearchFilters();
  const [own, setOwn] = useState('');
  const [shown, setShown] = useState(PERKS_AT_ONCE);
  const sources = useKnownSources();
  const sourcesId = useId();
  const asked = valueOf('mailer');
  const mailer: Mailer = asked in t.mailers ? (asked as Mailer) : 'mailchimp';
  const placeholder = mailer === 'own' ? own.trim() : PLACEHOLDERS[mailer];
  const isUsable = isUsablePlaceholder(placeholder);
  const utm = {
    utm_source: valueOf('utm_source').trim() || (mailer === 'own' ? 'mail' : t.sources[mailer]),
    utm_medium: 'email',
    ...Object.fromEntries(
      OPTIONAL.map((name) => [name, valueOf(name).trim()]).filter(([, value]) => value !== ''),
    ),
  };
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

  return (
    <>
      <Card title={t.mailer} note={t.mailerNote}>
        <div className="form">
          <SelectField
            label={t.mailer}
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
            <p className="stack">
              <span>{t.placeholder}</span>
              <code data-snippet="placeholder">{placeholder}</code>
            </p>
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
          {OPTIONAL.map((name) => (
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
      {isUsable ? (
        <Loaded query={snippets} lines={8}>
          {({ pixels, links }) => (
            <>
              {isPrivateUrl(pixels.teaser) && (
                <p className="failed" role="alert">
                  {t.privateHost(new URL(pixels.teaser).host)}
                </p>
              )}
              <Card title={t.pixels} note={t.pixelsNote}>
                <div className="stack">
                  {(['teaser', 'reward'] as const).map((kind) => (
                    <Snippet
                      key={kind}
                      id={kind}
                      name={t.pixelOf[kind]}
                      hint={t.pixelHint[kind]}
                      html={pixelHtml(pixels[kind], placeholder)}
                    />
                  ))}
                </div>
              </Card>
              <Card
                title={t.links}
                note={t.linksNote}
                actions={
                  links.length > 1 && (
                    <CopyButton
                      label={t.copyAll(links.length)}
                      text={links.map(({ url, title }) => linkHtml(url, placeholder, title)).join('\n')}
                    />
                  )
                }
              >
                <div className="stack">
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
                </div>
              </Card>
            </>
          )}
        </Loaded>
      ) : (
        <p>{t.needsPlaceholder}</p>
      )}
    </>
  );
}

interface SnippetProps {
  id: string;
  name: string;
  hint?: string;
  picture?: string | null;
  /** For the link dialog of a mailer's editor, which escapes by itself. */
  url?: string;
  html: string;
}

const Snippet = ({ id, name, hint, picture, url, html }: SnippetProps) => (
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
    {hint && <p className="hint">{hint}</p>}
    <pre className="code-block">
      <code data-snippet={id}>{html}</code>
    </pre>
  </section>
);
