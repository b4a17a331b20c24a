import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { loadRows, numberOf, within } from '../api/analytics';
import { usePictures, type PerkPlace } from '../api/pictures';
import { Bars } from '../charts/bars';
import type { Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatNumber } from '../format';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { PerkPicture } from '../parts/perk-picture';
import { Card } from '../parts/screen';
import { texts } from '../texts';

const t = texts.overview;
const BEST = 5;
/** The cubes of perk clicks, and the dimension that names the place of the click. */
const CLICKS = [
  { cube: 'incentive_clicks', place: 'campaign_id', name: 'campaignId' },
  { cube: 'perk_clicks', place: 'collection_id', name: 'collectionId' },
] as const;
type ClickCube = (typeof CLICKS)[number]['cube'];

export interface ClickedPerk extends PerkPlace {
  title: string;
  clicks: number;
  byCube: Map<ClickCube, number>;
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

/** The events behind a perk's clicks, which two cubes share: those of one cube. */
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

export function BestPerks({ range }: { range: Range }) {
  const query = useQuery({
    queryKey: ['best-perks', range],
    queryFn: async () =>
      [...(await loadClicksByPerk(range)).values()]
        .filter(({ clicks }) => clicks > 0)
        .sort((one, other) => other.clicks - one.clicks)
        .slice(0, BEST),
    ...useLiveInterval(),
  });
  const pictures = usePictures(
    (query.data ?? []).map(({ perkId, campaignId, collectionId }) => ({ perkId, campaignId, collectionId })),
  );
  return (
    <Card title={t.best} note={t.bestNote}>
      <Loaded query={query} isEmpty={(data) => data.length === 0} empty={<p>{t.noBest}</p>}>
        {(best) => (
          <Bars
            label={t.best}
            bars={best.map(({ perkId, title, clicks, byCube }) => ({
              key: perkId,
              label: title,
              value: clicks,
              note: <ClickLinks {...{ perkId, byCube, range }} />,
              picture: <PerkPicture src={pictures.get(perkId)} name={title} />,
            }))}
          />
        )}
      </Loaded>
    </Card>
  );
}
