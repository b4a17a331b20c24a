import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { loadRows, numberOf, within } from '../api/analytics';
import { allOf, perkway } from '../api/perkway';
import { usePerkInfo, type PerkPlace } from '../api/perk-info';
import { Bars } from '../charts/bars';
import type { Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatNumber } from '../format';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { PerkPicture } from '../parts/perk-picture';
import { Card } from '../parts/screen';
import { useScrollToHash } from '../scroll-to-hash';
import { texts } from '../texts';

const t = texts.overview;
const SHOWN = 5;
/** The most rows that a query may return, because a perk that is missing would seem to have no clicks. */
export const ALL = 50_000;
/** The cubes of perk clicks, and the dimension that names the place of the click. */
const CLICKS = [
  { cube: 'incentive_clicks', place: 'campaign_id', name: 'campaignId' },
  { cube: 'perk_clicks', place: 'collection_id', name: 'collectionId' },
] as const;
type ClickCube = (typeof CLICKS)[number]['cube'];
const VIEWS = [
  { cube: 'teaser_views', place: 'campaign_id', name: 'campaignId' },
  { cube: 'reward_views', place: 'campaign_id', name: 'campaignId' },
  { cube: 'perk_views', place: 'collection_id', name: 'collectionId' },
] as const;

export interface ClickedPerk extends PerkPlace {
  title: string;
  clicks: number;
  byCube: Map<ClickCube, number>;
}

interface SeenPerk extends PerkPlace {
  title: string;
  /** Of people, by the views that name the perk. */
  views: number;
}

/** @param limit rows per cube, those with the most clicks first */
export async function loadClicksByPerk(range: Range, limit = 1_000) {
  const responses = await Promise.all(
    CLICKS.map(({ cube, place }) =>
      loadRows({
        measures: [`${cube}.count_people`],
        dimensions: [`${cube}.perk_id`, `${cube}.perk_title`, `${cube}.${place}`],
        ...within(cube, range),
        order: { [`${cube}.count_people`]: 'desc' },
        limit,
      }),
    ),
  );
  const perks = new Map<string, ClickedPerk>();
  CLICKS.forEach(({ cube, place, name }, index) => {
    for (const row of responses[index]!) {
      const perkId = String(row[`${cube}.perk_id`]);
      const clicks = numberOf(row, `${cube}.count_people`);
      const known = perks.get(perkId) ?? { perkId, title: perkId, clicks: 0, byCube: new Map() };
      perks.set(perkId, {
        [name]: row[`${cube}.${place}`] ?? undefined,
        ...known,
        title: String(row[`${cube}.perk_title`] ?? known.title),
        clicks: known.clicks + clicks,
        byCube: known.byCube.set(cube, (known.byCube.get(cube) ?? 0) + clicks),
      });
    }
  });
  return perks;
}

/** Returns the URL of the events behind a perk's clicks in one of the two cubes. */
const clicksLink = (cube: ClickCube, perkId: string, range: Range) =>
  exploreLink({
    cube,
    measures: ['count_people', 'count'],
    dimensions: [cube === 'perk_clicks' ? 'collection_id' : 'campaign_name'],
    where: [{ member: 'perk_id', value: perkId }],
    steps: 'day',
    range,
  });

/** A link for each cube that has clicks of the perk, so that every number opens its own events. */
export const ClickLinks = ({
  perkId,
  byCube,
  range,
}: Pick<ClickedPerk, 'perkId' | 'byCube'> & { range: Range }) =>
  [...byCube]
    .filter(([, clicks]) => clicks > 0)
    .map(([cube, clicks], index) => (
      <span key={cube}>
        {index > 0 && ', '}
        <Link to={clicksLink(cube, perkId, range)}>{t.clicksIn[cube](formatNumber(clicks))}</Link>
      </span>
    ));

/** Counts the clicks of every perk: one that is missing would seem to have none. */
export const useClicksByPerk = (range: Range) =>
  useQuery({
    queryKey: ['clicks-by-perk', range],
    queryFn: () => loadClicksByPerk(range, ALL),
    ...useLiveInterval(),
  });

/** Reads the perks that people saw: in a view that names the perk, or in a campaign with views that offers it, because a pixel names no perk. */
async function loadSeenPerks(range: Range): Promise<Map<string, SeenPerk>> {
  const [campaigns, ...views] = await Promise.all([
    allOf(perkway.boost.listCampaigns({ limit: 200 })),
    ...VIEWS.map(({ cube, place }) =>
      loadRows({
        measures: [`${cube}.count_people`],
        dimensions: [`${cube}.perk_id`, `${cube}.perk_title`, `${cube}.${place}`],
        ...within(cube, range),
        limit: ALL,
      }),
    ),
  ]);
  const perks = new Map<string, SeenPerk>();
  const add = (perkId: string, title: string, count: number, place: Partial<PerkPlace>) => {
    const known = perks.get(perkId) ?? { perkId, title, views: 0, ...place };
    perks.set(perkId, { ...known, views: known.views + count });
  };
  const seenCampaigns = new Set<unknown>();
  VIEWS.forEach(({ cube, place, name }, index) => {
    for (const row of views[index]!) {
      const [perkId, count] = [row[`${cube}.perk_id`], numberOf(row, `${cube}.count_people`)];
      if (count === 0) continue;
      if (place === 'campaign_id') seenCampaigns.add(row[`${cube}.${place}`]);
      const title = String(row[`${cube}.perk_title`] ?? perkId);
      if (perkId != null) add(String(perkId), title, count, { [name]: row[`${cube}.${place}`] ?? undefined });
    }
  });
  for (const { id, incentives } of campaigns)
    if (seenCampaigns.has(id)) for (const perkId of incentives) add(perkId, perkId, 0, { campaignId: id });
  return perks;
}

type RankedPerk = ClickedPerk & Partial<SeenPerk>;

function mostClicked(clicked: Map<string, ClickedPerk>): RankedPerk[] {
  return [...clicked.values()]
    .filter(({ clicks }) => clicks > 0)
    .sort((one, other) => other.clicks - one.clicks)
    .slice(0, SHOWN);
}

/** Returns the perks with the fewest clicks, also none, of those that people saw or clicked and that are not among the most clicked. */
function leastClicked(clicked: Map<string, ClickedPerk>, seen: Map<string, SeenPerk>): RankedPerk[] {
  const none = { clicks: 0, byCube: new Map() };
  const most = new Set(mostClicked(clicked).map(({ perkId }) => perkId));
  return [...new Map<string, Partial<ClickedPerk>>([...seen, ...clicked]).keys()]
    .map((perkId) => ({ ...none, ...seen.get(perkId), ...clicked.get(perkId) }) as RankedPerk)
    .filter(({ perkId, clicks }) => !most.has(perkId) && (clicks > 0 || seen.has(perkId)))
    .sort((one, other) => one.clicks - other.clicks || (other.views ?? 0) - (one.views ?? 0))
    .slice(0, SHOWN);
}

/** The part of the address that leads to the lists. */
export const PERK_CLICKS = '#perk-clicks';

/** Lists the most and the least clicked perks, each perk once. If all are among the most clicked, there is one list. */
export function PerkClicks({ range }: { range: Range }) {
  const clicks = useClicksByPerk(range);
  // Not refreshed, because it takes three large queries.
  const seen = useQuery({ queryKey: ['seen-perks', range], queryFn: () => loadSeenPerks(range) });
  const least = clicks.data && seen.data && leastClicked(clicks.data, seen.data);
  useScrollToHash(least !== undefined);
  return (
    <div id={PERK_CLICKS.slice(1)} className="columns">
      <RankedPerks
        list="most"
        query={{ ...clicks, data: clicks.data && mostClicked(clicks.data) }}
        range={range}
      />
      {least?.length !== 0 && (
        <RankedPerks
          list="least"
          query={{ ...(clicks.isError ? clicks : seen), data: least }}
          range={range}
        />
      )}
    </div>
  );
}

interface Props {
  list: 'most' | 'least';
  query: Parameters<typeof Loaded<RankedPerk[]>>[0]['query'];
  range: Range;
}

/** The perks with the most or the fewest clicks. */
function RankedPerks({ list, query, range }: Props) {
  const info = usePerkInfo(
    (query.data ?? []).map(({ perkId, campaignId, collectionId }) => ({ perkId, campaignId, collectionId })),
  );
  // Events do not name a perk that was only offered: its title comes with its picture.
  const isNamed = info !== undefined || query.data?.every(({ perkId, title }) => title !== perkId);
  const data = isNamed ? query.data : undefined;
  const { title, note } = t.ranked[list];
  return (
    <Card title={title} note={note}>
      <Loaded
        query={{ ...query, data }}
        isEmpty={(perks) => perks.length === 0}
        empty={<p>{t.ranked.none}</p>}
      >
        {(perks) => (
          <Bars
            label={title}
            bars={perks.map((perk) => {
              const { perkId, clicks, byCube, views } = perk;
              const { title: offered = perkId, picture } = info?.get(perkId) ?? {};
              const name = perk.title === perkId ? offered : perk.title;
              return {
                key: perkId,
                label: name,
                value: clicks,
                note: (
                  <>
                    {views !== undefined && t.ranked.views(views)}
                    {views !== undefined && clicks > 0 && ', '}
                    <ClickLinks {...{ perkId, byCube, range }} />
                  </>
                ),
                picture: <PerkPicture src={picture} name={name} />,
              };
            })}
          />
        )}
      </Loaded>
    </Card>
  );
}
