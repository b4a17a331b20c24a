import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import {
  byDay,
  downloadCsv,
  loadMeta,
  loadRows,
  numberOf,
  within,
  type Query,
  type Row,
} from '../api/analytics';
import type { Cube } from '../api/types';
import { Bars } from '../charts/bars';
import { TimeSeries } from '../charts/time-series';
import { daysIn, TIMEZONE, type Range } from '../dates';
import { formatNumber } from '../format';
import { CheckField, SelectField, TextField } from '../parts/fields';
import { Icon } from '../parts/icon';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { RangePicker, useRange } from '../parts/range-picker';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.explore;
const SHOWN_ROWS = 500;
const SHOWN_BARS = 12;
const SHOWN_SERIES = 5;
type Steps = keyof typeof t.granularities;

/** Keeps the query in the URL, so that it can be shared. */
function useQuestion(cubes: Cube[]) {
  const [params, setParams] = useSearchParams();
  const cube = cubes.find(({ name }) => name === params.get('cube')) ?? cubes[0];
  const known = (members: { name: string }[] | undefined, name: string) =>
    (params.get(name) ?? '')
      .split(',')
      .filter((member) => members?.some((one) => one.name === `${cube?.name}.${member}`));
  const measures = known(cube?.measures, 'measures');
  const steps = (params.get('steps') ?? 'day') as Steps;
  return {
    cube,
    measures: params.has('measures') ? measures : usual(cube),
    dimensions: known(cube?.dimensions, 'dimensions'),
    filter: params.get('filter') ?? '',
    operator: params.get('operator') ?? 'equals',
    value: params.get('value') ?? '',
    steps: steps in t.granularities ? steps : ('day' as Steps),
    people: params.get('people') === 'yes',
    set: (changes: Record<string, string | null>) =>
      setParams(
        (before) => {
          for (const [name, value] of Object.entries(changes))
            if (value === null) before.delete(name);
            else before.set(name, value);
          return before;
        },
        { replace: true },
      ),
  };
}
const usual = (cube: Cube | undefined) =>
  ['count', 'journeys']
    .filter((measure) => cube?.measures.some(({ name }) => name === `${cube.name}.${measure}`))
    .slice(0, 1);

export default function Explore() {
  const meta = useQuery({ queryKey: ['meta'], queryFn: ({ signal }) => loadMeta(signal), staleTime: 60_000 });
  return (
    <Screen title={texts.nav.explore} intro={t.intro} actions={<RangePicker />}>
      <Loaded query={meta} lines={8}>
        {(cubes) => <Question cubes={cubes} />}
      </Loaded>
    </Screen>
  );
}

const shortOf = (member: string) => member.slice(member.indexOf('.') + 1);

function Question({ cubes }: { cubes: Cube[] }) {
  const { range } = useRange();
  const question = useQuestion(cubes);
  const { cube, measures, dimensions, set } = question;
  if (!cube) return null;
  const full = (member: string) => `${cube.name}.${member}`;
  const own = cube.dimensions.filter(({ type }) => type !== 'time');
  const titleOf = (member: string) =>
    [...cube.measures, ...cube.dimensions].find(({ name }) => name === member)?.shortTitle ?? shortOf(member);
  const toggle = (name: 'measures' | 'dimensions', member: string, on: boolean) => {
    const chosen = (name === 'measures' ? measures : dimensions).filter((one) => one !== member);
    set({ [name]: [...chosen, ...(on ? [member] : [])].join(',') });
  };
  const needsValue = !['set', 'notSet'].includes(question.operator);
  const query: Query = {
    measures: measures.map(full),
    dimensions: dimensions.map(full),
    ...within(cube.name, range, question.steps === 'none' ? undefined : question.steps),
    ...(question.filter &&
      (!needsValue || question.value) && {
        filters: [
          {
            member: full(question.filter),
            operator: question.operator,
            ...(needsValue && { values: [question.value] }),
          } as NonNullable<Query['filters']>[number],
        ],
      }),
    ...(question.people && cube.segments.length > 0 && { segments: [full('people')] }),
  };

  return (
    <>
      <Card>
        <div className="form">
          <SelectField
            label={t.cube}
            value={cube.name}
            options={cubes.map(({ name, title }) => ({ value: name, label: t.cubes[name] ?? title }))}
            onValue={(name) =>
              set({ cube: name, measures: null, dimensions: null, filter: null, value: null, people: null })
            }
          />
          <SelectField
            label={t.steps}
            value={question.steps}
            options={Object.entries(t.granularities).map(([value, label]) => ({ value, label }))}
            onValue={(steps) => set({ steps })}
          />
          <SelectField
            label={t.filter}
            value={question.filter}
            options={[
              { value: '', label: t.noFilter },
              ...own.map(({ name, shortTitle }) => ({ value: shortOf(name), label: shortTitle })),
            ]}
            onValue={(filter) => set({ filter: filter || null, value: null })}
          />
          {question.filter && (
            <>
              <SelectField
                label={t.operator}
                value={question.operator}
                options={Object.entries(t.operators).map(([value, label]) => ({ value, label }))}
                onValue={(operator) => set({ operator })}
              />
              {needsValue && (
                <TextField label={t.value} value={question.value} onValue={(value) => set({ value })} />
              )}
            </>
          )}
          <fieldset className="wide">
            <legend>{t.measures}</legend>
            <div className="checks">
              {cube.measures.map(({ name, shortTitle }) => (
                <CheckField
                  key={name}
                  label={t.help[shortOf(name)] ? `${shortTitle}: ${t.help[shortOf(name)]}` : shortTitle}
                  checked={measures.includes(shortOf(name))}
                  onValue={(on) => toggle('measures', shortOf(name), on)}
                />
              ))}
            </div>
          </fieldset>
          <fieldset className="wide">
            <legend>{t.dimensions}</legend>
            <div className="checks">
              {own.map(({ name, shortTitle }) => (
                <CheckField
                  key={name}
                  label={shortTitle}
                  checked={dimensions.includes(shortOf(name))}
                  onValue={(on) => toggle('dimensions', shortOf(name), on)}
                />
              ))}
            </div>
          </fieldset>
          {cube.segments.length > 0 && (
            <CheckField
              label={t.peopleOnly}
              checked={question.people}
              onValue={(on) => set({ people: on ? 'yes' : null })}
            />
          )}
        </div>
      </Card>
      {measures.length === 0 ? (
        <p>{t.pick}</p>
      ) : (
        <Results query={query} cube={cube.name} range={range} steps={question.steps} titleOf={titleOf} />
      )}
    </>
  );
}

interface ResultsProps {
  query: Query;
  cube: string;
  range: Range;
  steps: Steps;
  titleOf: (member: string) => string;
}

function Results({ query, cube, range, steps, titleOf }: ResultsProps) {
  const { say } = useNotices();
  const [isSaving, setSaving] = useState(false);
  const response = useQuery({
    queryKey: ['explore', query],
    queryFn: () => loadRows(query),
    placeholderData: (before) => before,
    ...useLiveInterval(),
  });
  const measures = query.measures ?? [];
  const dimensions = query.dimensions ?? [];
  const time = steps === 'none' ? null : `${cube}.occurred_at.${steps}`;
  const save = async () => {
    setSaving(true);
    await downloadCsv({ ...query, limit: 50_000 }, `${cube}.csv`).catch((error: Error) =>
      say(error.message, 'bad'),
    );
    setSaving(false);
  };
  const text = (row: Row, member: string) => row[member] ?? t.noValue;

  return (
    <>
      <Card title={t.chart} note={texts.counting.zone(TIMEZONE)}>
        <Loaded query={response} lines={6} isEmpty={(rows) => rows.length === 0} empty={<p>{t.empty}</p>}>
          {(rows) => <Drawing {...{ rows, measures, dimensions, cube, range, steps, titleOf }} />}
        </Loaded>
      </Card>
      <Card
        title={t.table}
        actions={
          <button type="button" className="button" disabled={isSaving} onClick={() => void save()}>
            <Icon name="download" /> {texts.downloadCsv}
          </button>
        }
      >
        <Loaded query={response} isEmpty={(rows) => rows.length === 0} empty={<p>{t.empty}</p>}>
          {(rows) => (
            <div className="stack">
              <p className="hint" role="status">
                {rows.length > SHOWN_ROWS ? t.cut(formatNumber(SHOWN_ROWS)) : t.rows(rows.length)}
              </p>
              <Table
                caption={t.table}
                isTall
                rows={rows.slice(0, SHOWN_ROWS)}
                keyOf={(_, index) => index}
                columns={[
                  ...(time
                    ? [
                        {
                          name: texts.day,
                          isHead: true,
                          cell: (row: Row) => String(row[time] ?? '').slice(0, 10),
                        },
                      ]
                    : []),
                  ...dimensions.map((member) => ({
                    name: titleOf(member),
                    cell: (row: Row) => text(row, member),
                  })),
                  ...measures.map((member) => ({
                    name: titleOf(member),
                    isNumber: true,
                    cell: (row: Row) =>
                      row[member] === null ? texts.none : formatNumber(numberOf(row, member)),
                  })),
                ]}
              />
            </div>
          )}
        </Loaded>
      </Card>
    </>
  );
}

type DrawingProps = Omit<ResultsProps, 'query'> & { rows: Row[]; measures: string[]; dimensions: string[] };

/**
 * Draws lines over days and bars for dimensions; with both, one line for each of the largest values of the first
 * measure.
 */
function Drawing({ rows, measures, dimensions, cube, range, steps, titleOf }: DrawingProps) {
  const partOf = (row: Row) => dimensions.map((member) => row[member] ?? t.noValue).join(' · ');
  const first = measures[0]!;
  if (steps === 'day') {
    const days = daysIn(range);
    if (dimensions.length === 0)
      return (
        <TimeSeries
          title={measures.map(titleOf).join(', ')}
          days={days}
          series={measures
            .slice(0, SHOWN_SERIES)
            .map((member) => ({ name: titleOf(member), values: byDay(rows, cube, member, days) }))}
        />
      );
    const parts = [...Map.groupBy(rows, partOf)]
      .map(([name, own]) => ({ name, own, sum: own.reduce((sum, row) => sum + numberOf(row, first), 0) }))
      .sort((one, other) => other.sum - one.sum)
      .slice(0, SHOWN_SERIES);
    return (
      <TimeSeries
        title={titleOf(first)}
        days={days}
        series={parts.map(({ name, own }) => ({ name, values: byDay(own, cube, first, days) }))}
      />
    );
  }
  const labelOf = (row: Row) =>
    [steps === 'none' ? '' : String(row[`${cube}.occurred_at.${steps}`] ?? '').slice(0, 10), partOf(row)]
      .filter(Boolean)
      .join(' · ') || titleOf(first);
  const bars = rows.slice(0, SHOWN_BARS);
  return (
    <>
      <Bars
        label={titleOf(first)}
        bars={bars.map((row, index) => ({
          key: String(index),
          label: labelOf(row),
          value: numberOf(row, first),
        }))}
      />
      {rows.length > SHOWN_BARS && <p className="hint">{t.others(formatNumber(rows.length - SHOWN_BARS))}</p>}
    </>
  );
}
