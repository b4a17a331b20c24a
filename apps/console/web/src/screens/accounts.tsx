import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { ACCOUNTS, keyOf, pathOf } from '../api/managed';
import { useOperatorsHome } from '../api/operators-home';
import { allOf } from '../api/perkway';
import { formatMoment, formatNumber } from '../format';
import { Ago } from '../parts/ago';
import { changeOf, TrafficChange } from '../parts/change';
import { TextField } from '../parts/fields';
import { Empty, Failed, Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { RowName, Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.accounts;
const h = texts.operatorsHome;
const PAGE = 50;
/** The same maximum as in Operations. */
const MOST = 2_000;
const NO_EVENTS = { events: 0, events_before: 0, last_event_at: null };

export default function Accounts() {
  const navigate = useNavigate();
  const { valueOf, set } = useSearchFilters();
  const q = valueOf('q');
  const [shownAtMost, setShownAtMost] = useState(PAGE);
  // All of them, because the host cannot order them by their traffic.
  const accounts = useQuery({
    queryKey: [...keyOf(ACCOUNTS), 'matches', q],
    queryFn: () => allOf(ACCOUNTS.list({ q, limit: 200 }), MOST),
    placeholderData: (before) => before,
  });
  const home = useOperatorsHome();
  const trafficBy = home.data && new Map(home.data.traffic.map((traffic) => [traffic.account_id, traffic]));
  const rows = accounts.data?.map((account) => ({
    ...account,
    traffic: trafficBy && (trafficBy.get(account.id) ?? NO_EVENTS),
  }));
  return (
    <Screen
      title={texts.nav.accounts}
      intro={t.intro}
      actions={
        <button type="button" className="button main" onClick={() => void navigate('/accounts/new')}>
          {t.create}
        </button>
      }
    >
      <Card className="dense" note={t.listNote}>
        <div className="stack">
          <div role="search">
            <TextField
              label={texts.search}
              type="search"
              value={q}
              onValue={(value) => set('q', value)}
              hint={t.searchHint}
            />
          </div>
          {home.isError && <Failed error={home.error} retry={() => void home.refetch()} />}
          <Loaded
            query={{ ...accounts, data: rows }}
            lines={6}
            isEmpty={(list) => list.length === 0}
            empty={<Empty title={q ? texts.nothingFound : texts.nothingYet} />}
          >
            {(list) => (
              <>
                <p className="hint" role="status">
                  {texts.shown(list.length, list.length === MOST, ACCOUNTS.counted)}
                </p>
                <Table
                  caption={texts.nav.accounts}
                  rows={list}
                  keyOf={({ id }) => id}
                  sortParameter="order"
                  atMost={shownAtMost}
                  columns={[
                    {
                      name: t.name,
                      isHead: true,
                      sortBy: ({ name }) => name,
                      cell: ({ id, name }) => (
                        <>
                          <RowName name={name}>
                            <Link to={pathOf(ACCOUNTS, id)}>{name}</Link>
                          </RowName>
                          <br />
                          <code className="hint">{id}</code>
                        </>
                      ),
                    },
                    {
                      name: h.week,
                      isNumber: true,
                      sortBy: ({ traffic }) => traffic?.events ?? null,
                      cell: ({ traffic }) => traffic && formatNumber(traffic.events),
                    },
                    {
                      name: h.weekChange,
                      isNumber: true,
                      sortBy: ({ traffic }) =>
                        traffic ? changeOf(traffic.events, traffic.events_before) : null,
                      cell: ({ traffic }) =>
                        traffic && <TrafficChange count={traffic.events} before={traffic.events_before} />,
                    },
                    {
                      name: h.lastEvent,
                      sortBy: ({ traffic }) => traffic?.last_event_at ?? null,
                      cell: ({ traffic }) =>
                        traffic &&
                        (traffic.last_event_at ? (
                          <Ago moment={traffic.last_event_at} />
                        ) : (
                          <span className="hint">{t.noEvents}</span>
                        )),
                    },
                    {
                      name: texts.editor.changed,
                      sortBy: ({ updated_at }) => updated_at,
                      cell: ({ updated_at }) => <span className="nowrap">{formatMoment(updated_at)}</span>,
                    },
                  ]}
                />
                {list.length > shownAtMost && (
                  <button type="button" className="button" onClick={() => setShownAtMost(shownAtMost + PAGE)}>
                    {texts.more}
                  </button>
                )}
              </>
            )}
          </Loaded>
        </div>
      </Card>
    </Screen>
  );
}
