import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { loadRows, numberOf, within } from '../api/analytics';
import type { Perk } from '../api/types';
import type { Range } from '../dates';
import { exploreLink } from '../explore-link';
import { formatNumber, formatShare } from '../format';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Card } from '../parts/screen';
import { RowName, Table } from '../parts/table';
import { texts } from '../texts';
import { ALL, type useClicksByPerk } from './perk-clicks';

const t = texts.perks;

/** Counts a collection's views or clicks of people, by perk. */
async function loadCounts(cube: string, collection: string, range: Range): Promise<Map<string, number>> {
  const rows = await loadRows({
    measures: [`${cube}.count_people`],
    dimensions: [`${cube}.perk_id`],
    ...within(cube, range),
    filters: [{ member: `${cube}.collection_id`, operator: 'equals', values: [collection] }],
    limit: ALL,
  });
  return new Map(rows.map((row) => [String(row[`${cube}.perk_id`]), numberOf(row, `${cube}.count_people`)]));
}

interface Props {
  collection: string;
  perks: Perk[];
  clicks: ReturnType<typeof useClicksByPerk>;
  range: Range;
  note: string;
}

/** The perks of a collection by clicks or click rate; those without a view are listed with 0. */
export function PerkTable({ collection, perks, clicks, range, note }: Props) {
  const query = useQuery({
    queryKey: ['perk-table', collection, range],
    queryFn: () =>
      Promise.all(['perk_views', 'perk_clicks'].map((cube) => loadCounts(cube, collection, range))),
    ...useLiveInterval(),
  });
  return (
    <Card note={note}>
      <Loaded query={query} lines={9}>
        {([viewsBy, clicksBy]) => {
          const viewsOf = ({ id }: Perk) => viewsBy?.get(String(id)) ?? 0;
          const clicksOf = ({ id }: Perk) => clicksBy?.get(String(id)) ?? 0;
          const inCampaigns = ({ id }: Perk) =>
            clicks.data?.get(String(id))?.byCube.get('incentive_clicks') ?? 0;
          const allClicks = (perk: Perk) => clicksOf(perk) + inCampaigns(perk);
          return (
            <Table
              caption={texts.nav.perks}
              rows={perks.toSorted((one, other) => allClicks(other) - allClicks(one))}
              keyOf={({ id }) => String(id)}
              sortParameter="order"
              columns={[
                {
                  name: t.perk,
                  isHead: true,
                  sortBy: ({ title }) => title,
                  cell: ({ id, title }) => (
                    <RowName name={title}>
                      <Link
                        to={exploreLink({
                          cube: 'perk_clicks',
                          measures: ['count_people', 'count'],
                          where: [
                            { member: 'collection_id', value: collection },
                            { member: 'perk_id', value: String(id) },
                          ],
                          steps: 'day',
                          range,
                        })}
                      >
                        {title}
                      </Link>
                    </RowName>
                  ),
                },
                {
                  name: t.views,
                  isNumber: true,
                  sortBy: viewsOf,
                  cell: (perk) => formatNumber(viewsOf(perk)),
                },
                {
                  name: t.clicked,
                  isNumber: true,
                  sortBy: clicksOf,
                  cell: (perk) => formatNumber(clicksOf(perk)),
                },
                {
                  name: t.rate,
                  isNumber: true,
                  sortBy: (perk) => (viewsOf(perk) > 0 ? clicksOf(perk) / viewsOf(perk) : null),
                  cell: (perk) => formatShare(clicksOf(perk), viewsOf(perk)) ?? texts.none,
                },
                {
                  name: t.inCampaigns,
                  isNumber: true,
                  sortBy: inCampaigns,
                  cell: (perk) => clicks.data && formatNumber(inCampaigns(perk)),
                },
              ]}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
