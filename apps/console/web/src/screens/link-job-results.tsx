import { useQueries } from '@tanstack/react-query';
import { Link } from 'react-router';
import { jobTitle, linkCountsOf, LISTED_JOBS, useLinkJobs } from '../api/link-jobs';
import type { LinkJob, LinkStates } from '../api/types';
import { formatMoment, formatNumber, formatShare } from '../format';
import { addMoney, formatSums, type Money } from '../money';
import { Loaded } from '../parts/loaded';
import { Card } from '../parts/screen';
import { RowName, Table, type Column } from '../parts/table';
import { texts } from '../texts';
import { LinkCount } from './link-counts';

const t = texts.giftCards;
const STATES = Object.keys(t.linkStates) as (keyof LinkStates)[];

interface Row {
  /** Null for the total. */
  job: LinkJob | null;
  made: number;
  value: Money;
  /** Undefined until they are counted. */
  counts: LinkStates | undefined;
  values: Record<keyof LinkStates, Money>;
}

const noValues = () =>
  Object.fromEntries(STATES.map((state) => [state, new Map()])) as unknown as Row['values'];

function rowOf(job: LinkJob, counts: LinkStates | undefined): Row {
  const { made, denomination, currency } = job;
  const row: Row = { job, made, counts, value: new Map(), values: noValues() };
  addMoney(row.value, currency, made * denomination);
  for (const state of STATES) addMoney(row.values[state], currency, (counts?.[state] ?? 0) * denomination);
  return row;
}

function totalOf(rows: Row[]): Row {
  const total: Row = { job: null, made: 0, value: new Map(), counts: undefined, values: noValues() };
  const counts: LinkStates = { waiting: 0, opened: 0, cancelled: 0, expired: 0 };
  const addAll = (into: Money, money: Money) =>
    money.forEach((value, currency) => addMoney(into, currency, value));
  for (const row of rows) {
    total.made += row.made;
    addAll(total.value, row.value);
    for (const state of STATES) {
      counts[state] += row.counts?.[state] ?? 0;
      addAll(total.values[state], row.values[state]);
    }
  }
  return { ...total, counts: rows.every((row) => row.counts) ? counts : undefined };
}

/** Returns the value to sort by: a job has only one currency. */
const amountOf = (money: Money) => [...money.values()][0] ?? 0;

/** Compares the link jobs of the account by what became of their links. */
export function LinkJobResults() {
  const jobs = useLinkJobs();
  const started = jobs.data?.filter(({ made }) => made > 0);
  const counted = useQueries({ queries: (started ?? []).map((job) => linkCountsOf(job)) });
  const failed = counted.find(({ isError }) => isError);
  const rows = started?.map((job, index) => rowOf(job, counted[index]?.data));
  const query = {
    data: rows,
    isError: jobs.isError || failed !== undefined,
    error: jobs.error ?? failed?.error ?? null,
    refetch: () =>
      Promise.all([jobs, ...counted].filter(({ isError }) => isError).map(({ refetch }) => refetch())),
  };
  if (rows?.length === 0) return null;
  return (
    <Card
      className="dense"
      title={t.results}
      note={`${t.resultsNote} ${jobs.data?.length === LISTED_JOBS ? t.latestJobs(LISTED_JOBS) : ''}`}
    >
      <Loaded query={query}>
        {(list) => (
          <Table
            caption={t.results}
            rows={list}
            total={list.length > 1 ? totalOf(list) : undefined}
            keyOf={({ job }) => job?.id ?? 'total'}
            sortParameter="jobs"
            columns={[
              {
                name: t.jobOf,
                isHead: true,
                sortBy: ({ job }) => (job ? jobTitle(job) : null),
                cell: ({ job }) =>
                  job ? (
                    <RowName name={jobTitle(job)}>
                      <Link to={`/gift-cards/jobs/${job.id}`}>{jobTitle(job)}</Link>
                    </RowName>
                  ) : (
                    t.allJobs
                  ),
              },
              {
                name: t.begun,
                sortBy: ({ job }) => job?.created_at ?? null,
                cell: ({ job }) => job && formatMoment(job.created_at),
              },
              {
                name: t.linksMade,
                isNumber: true,
                sortBy: ({ made }) => made,
                cell: ({ made }) => formatNumber(made),
              },
              {
                name: t.value,
                isNumber: true,
                sortBy: ({ value }) => amountOf(value),
                cell: ({ value }) => formatSums(value),
              },
              ...STATES.map((state): Column<Row> => ({
                name: t.linkStates[state],
                isNumber: true,
                sortBy: ({ counts }) => counts?.[state] ?? null,
                cell: ({ job, counts, values }) =>
                  counts && (
                    <>
                      {job ? (
                        <LinkCount job={job} state={state} count={counts[state]} />
                      ) : (
                        formatNumber(counts[state])
                      )}{' '}
                      <br />
                      <span className="hint">{formatSums(values[state], '')}</span>
                    </>
                  ),
              })),
              {
                name: t.openedShare,
                isNumber: true,
                sortBy: ({ counts, made }) => (counts ? counts.opened / made : null),
                cell: ({ counts, made }) => counts && formatShare(counts.opened, made),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
