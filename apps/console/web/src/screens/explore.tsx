import { useQuery } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { Link, useSearchParams } from 'react-router';
import {
  comparedJourneys,
  linkOnlyIn,
  loadMeta,
  loadParts,
  loadRows,
  sumOf,
  within,
  type Query,
  type Row,
} from '../api/analytics';
import { attributeOf } from '../attribute-of';
import { saveCsv } from '../api/csv';
import { useSession } from '../api/session';
import type { Cube } from '../api/types';
import { Bars } from '../charts/bars';
import { TimeSeries } from '../charts/time-series';
import { dayOf, daysIn, isoDay, rangeBefore, stepsIn, TIMEZONE, type Range, type Step } from '../dates';
import { exploreLink, readCondition, writeCondition, type Condition } from '../explore-link';
import { formatChange, formatNumber, formatRange, formatValue, type Unit } from '../format';
import { Change } from '../parts/change';
import { CopyButton } from '../parts/copy-button';
import { Facts } from '../parts/facts';
import { CheckField, SelectField, TextField } from '../parts/fields';
import { Icon } from '../parts/icon';
import { useLiveInterval } from '../parts/live';
import { Loaded, Loading } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { RangePicker, useRange } from '../parts/range-picker';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { partWord } from '../parts/verdict';
import { texts } from '../texts';
import { PERK_CLICKS } from './perk-clicks';
import { SavedQuestions } from './saved-questions';

const t = texts.explore;
const SHOWN_ROWS = 500;
const SHOWN_BARS = 12;
const SHOWN_SERIES = 5;
const SUGGESTED_ATTRIBUTES = 3;
const F = 'campaign_funnel';
const RATES = ['journeys', 'click_rate', 'journey_conversion_rate'];
const VALUE = 'conversions.value';
const CURRENCY = 'conversions.currency';
/** Dimensions that few questions need. */
const DETAIL = /_id$|\.cmeta$|traffic_|utm_(medium|term|content)$/;
type Steps = keyof typeof t.granularities;
type Measure = Cube['measures'][number];
/** Returns the value of a measure. If it is missing, that is null for a rate, and 0 for every other measure. */
const valueOf = (row: Row | undefined, { name, format }: Measure): number | null => {
  const value = row?.[name] ?? null;
  return value === null && format === 'percent' ? null : Number(value);
};
const unitOf = ({ format }: Measure): Unit => (format === 'percent' ? 'percent' : 'count');
/** Measures of which more is better. */
const GOOD = /^(?!reward_links).*\.(count_people|journeys|clickers|converters)$/;

type ComparedProps = { measure: Measure; range: Range } & Record<'row' | 'rowBefore', Row | undefined>;

/** A measure with its value in the period before, and by how much a count changed. */
function Compared({ measure, row, rowBefore, range }: ComparedProps) {
  const unit = unitOf(measure);
  const [value, before] = [valueOf(row, measure), valueOf(rowBefore, measure)];
  const count = Number(value);
  return (
    <>
      {formatValue(value, unit)}{' '}
      <span className="hint">
        {texts.campaigns.valueBefore(formatValue(before, unit))}
        {unit === 'count' && before !== null && before > 0 && (
          <>
            {', '}
            <Change
              {...{ count, before }}
              periods={[range, rangeBefore(range)]}
              isGood={GOOD.test(measure.name)}
            >
              {formatChange(count, before)}
            </Change>
          </>
        )}
      </span>
    </>
  );
}

/** Keeps the query in the URL, so that it can be shared. */
function useQuestion(cubes: Cube[], first: Record<string, string>) {
  const [given, setParams] = useSearchParams();
  const asked = (of: URLSearchParams) => (of.has('cube') ? of : changed(of, first));
  const params = asked(given);
  const cube = cubes.find(({ name }) => name === params.get('cube')) ?? cubes[0];
  const known = (members: { name: string }[] | undefined, name: string) =>
    (params.get(name) ?? '')
      .split(',')
      .filter((member) => members?.some((one) => one.name === `${cube?.name}.${member}`));
  const measures = known(cube?.measures, 'measures');
  const dimensions = known(cube?.dimensions, 'dimensions');
  const steps = (params.get('steps') ?? 'day') as Steps;
  const where = params
    .getAll('where')
    .map(readCondition)
    .filter(({ member }) => cube?.dimensions.some(({ name }) => name === `${cube.name}.${member}`));
  const isByCurrency = [...dimensions, ...where.map(({ member }) => member)].includes(shortOf(CURRENCY));
  return {
    cube,
    params,
    measures: params.has('measures') ? measures : defaultMeasures(cube),
    // Amounts of different currencies are never added.
    dimensions:
      cube?.name === 'conversions' && measures.includes(shortOf(VALUE)) && !isByCurrency
        ? [...dimensions, shortOf(CURRENCY)]
        : dimensions,
    filter: params.get('filter') ?? '',
    operator: params.get('operator') ?? 'equals',
    value: params.get('value') ?? '',
    steps: steps in t.granularities ? steps : ('day' as Steps),
    people: params.get('people') === 'yes',
    where,
    /** The URL of this question with changes; a link to it keeps Back working. */
    linkTo: (changes: Record<string, string | string[] | null>) => `?${changed(params, changes)}`,
    set: (changes: Record<string, string | null>) => setParams((before) => changed(asked(before), changes)),
    /** For text that is being typed: Back does not lead through its letters. */
    type: (changes: Record<string, string | null>) =>
      setParams((before) => changed(asked(before), changes), { replace: true }),
  };
}
function changed(params: URLSearchParams, changes: Record<string, string | string[] | null>) {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const one of [value ?? []].flat()) next.append(name, one);
  }
  return next;
}
const defaultMeasures = (cube: Cube | undefined) => (cube?.name === F ? RATES : ['count']);

/** Questions to begin with. The first one that events of people match is shown. */
const FIRST = [
  { cube: 'incentive_clicks', dimensions: 'perk_title' },
  { cube: 'perk_clicks', dimensions: 'perk_title' },
  { cube: 'teaser_views', dimensions: 'campaign_name' },
  { cube: 'reward_views', dimensions: 'campaign_name' },
  { cube: 'perk_views', dimensions: 'perk_title' },
];

/** Returns the question for a URL that asks none: about what people did in these dates. */
function useFirstQuestion(isNeeded: boolean) {
  const { range } = useRange();
  const found = useQuery({
    queryKey: ['explore-first', range],
    enabled: isNeeded,
    queryFn: async () => {
      const counts = await Promise.all(
        FIRST.map(async ({ cube }) => {
          const measure = `${cube}.count_people`;
          return sumOf(await loadRows({ measures: [measure], ...within(cube, range) }), measure);
        }),
      );
      return FIRST.find((_, index) => counts[index]! > 0) ?? FIRST[0]!;
    },
  });
  return {
    isPending: isNeeded && found.isPending,
    first: { ...(found.data ?? FIRST[0]!), measures: 'count_people', steps: 'none', people: 'yes' },
  };
}

export default function Explore() {
  const [params] = useSearchParams();
  const { isPending, first } = useFirstQuestion(!params.has('cube'));
  const meta = useQuery({ queryKey: ['meta'], queryFn: ({ signal }) => loadMeta(signal), staleTime: 60_000 });
  return (
    <Screen title={texts.nav.explore} intro={t.intro} actions={<RangePicker />}>
      <Loaded query={meta} lines={8}>
        {(cubes) => (isPending ? <Loading lines={8} /> : <Question cubes={cubes} first={first} />)}
      </Loaded>
    </Screen>
  );
}

/** Dimensions that a drill-down breaks down by, in this order. */
const DRILLED = ['campaign_name', 'perk_title', 'state', 'utm_source', 'utm_medium', 'traffic_class'];

/** The dates of a step. */
function daysOf(day: string, steps: Steps): { from: string; to: string } {
  const end = dayOf(day);
  if (steps === 'week') end.setDate(end.getDate() + 6);
  if (steps === 'month') end.setMonth(end.getMonth() + 1, 0);
  return { from: day, to: isoDay(end) };
}

/** Says how many days of a step are in the range, if not all are. */
function partOf(day: string, steps: Steps, range: Range): string | null {
  const { from, to } = daysOf(day, steps);
  const all = daysIn([from, to]).length;
  const own = daysIn([from < range[0] ? range[0] : from, to > range[1] ? range[1] : to]).length;
  return own < all ? t.partOf(own, all) : null;
}

/** Returns the first attributes that journeys in these dates have. */
function useSuggestedAttributes(cubes: Cube[], range: Range): string[] {
  const names = (cubes.find(({ name }) => name === F)?.dimensions ?? [])
    .map(({ name }) => shortOf(name))
    .filter((name) => attributeOf(name) && !DETAIL.test(name))
    .slice(0, SUGGESTED_ATTRIBUTES);
  const found = useQuery({
    queryKey: ['explore-attributes', names, range],
    queryFn: async () => {
      const journeys = await Promise.all(
        names.map(async (name) => {
          const filters: Query['filters'] = [{ member: `${F}.${name}`, operator: 'set' }];
          return sumOf(
            await loadRows({ measures: [`${F}.journeys`], ...within(F, range), filters }),
            `${F}.journeys`,
          );
        }),
      );
      return names.filter((_, index) => journeys[index]! > 0);
    },
  });
  return found.data ?? [];
}

function Suggestions({ cubes }: { cubes: Cube[] }) {
  const { range, preset } = useRange();
  const dates = preset === 'own' ? undefined : preset;
  const funnel = { cube: F, range, dates };
  const attributes = useSuggestedAttributes(cubes, range);
  const clicks = {
    ...{ cube: 'incentive_clicks', measures: ['count_people'], dimensions: ['perk_title'] },
    ...{ range, dates },
  };
  const questions: Record<keyof typeof t.suggested, string> = {
    best: exploreLink(clicks),
    // A question is about events, so it has no perks that nobody clicked.
    least: `/?${dates ? `dates=${dates}` : `from=${range[0]}&to=${range[1]}`}${PERK_CLICKS}`,
    sources: exploreLink({
      ...funnel,
      measures: ['journeys', 'converters', 'journey_conversion_rate'],
      dimensions: ['utm_source'],
    }),
    campaigns: exploreLink({ ...funnel, measures: RATES, dimensions: ['campaign_name'] }),
    rates: exploreLink({ ...funnel, measures: RATES, steps: 'week' }),
    perks: exploreLink({ ...clicks, steps: 'week' }),
    gifts: exploreLink({ cube: 'reward_links', dimensions: ['state'], range, dates }),
  };
  return (
    <nav className="actions" aria-label={t.questions}>
      {Object.entries(questions).map(([name, to]) => (
        <Link key={name} className="button small" to={to}>
          {t.suggested[name as keyof typeof questions]}
        </Link>
      ))}
      {attributes.map((name) => (
        <Link
          key={name}
          className="button small"
          to={exploreLink({ ...funnel, measures: RATES, dimensions: [name] })}
        >
          {t.bestSegment(attributeOf(name)!)}
        </Link>
      ))}
    </nav>
  );
}

const WIDE = matchMedia('(min-width: 75rem)');
function onWideChange(onChange: () => void): () => void {
  WIDE.addEventListener('change', onChange);
  return () => WIDE.removeEventListener('change', onChange);
}
/** Returns whether the question and its result stand side by side. */
const useIsWide = (): boolean => useSyncExternalStore(onWideChange, () => WIDE.matches);

const shortOf = (member: string) => member.slice(member.indexOf('.') + 1);
/** Selects the dates and, as a second part, the period before. */
const withBefore = (cube: string, range: Range) => ({
  timeDimensions: [{ dimension: `${cube}.occurred_at`, compareDateRange: [range, rangeBefore(range)] }],
});
/** Returns the value of a dimension, or words for a missing one. */
function textOf(value: string | number | null | undefined, member: string) {
  const name = shortOf(member);
  const isAttribute = name.startsWith('utm_') || attributeOf(name) !== undefined;
  return (
    t.values[name]?.[String(value)] ??
    value ??
    (isAttribute ? texts.overview.changed.noPart(partWord(name)) : t.noValue)
  );
}

function Question({ cubes, first }: { cubes: Cube[]; first: Record<string, string> }) {
  const { range } = useRange();
  const isWide = useIsWide();
  const question = useQuestion(cubes, first);
  const { measures, dimensions, set } = question;
  if (!question.cube) return null;
  // Only events that name the perk are counted then, so the rates divide by fewer journeys than on a campaign.
  const isOfPerk = [...dimensions, ...question.where.map(({ member }) => member), question.filter].some(
    (member) => member.startsWith('perk_'),
  );
  const cube = {
    ...question.cube,
    measures: question.cube.measures.map((measure) => ({
      ...measure,
      shortTitle: (isOfPerk && texts.rates.ofPerk[shortOf(measure.name)]) || measure.shortTitle,
    })),
  };
  const [from, to] = rangeBefore(range);
  const full = (member: string) => `${cube.name}.${member}`;
  const helpOf = (name: string) => t.help[name] ?? t.help[shortOf(name)];
  const own = cube.dimensions.filter(({ type }) => type !== 'time');
  const titleOf = (member: string) =>
    [...cube.measures, ...cube.dimensions].find(({ name }) => name === member)?.shortTitle ?? shortOf(member);
  const toggle = (name: 'measures' | 'dimensions', member: string, on: boolean) => {
    const chosen = (name === 'measures' ? measures : dimensions).filter((one) => one !== member);
    set({ [name]: [...chosen, ...(on ? [member] : [])].join(',') });
  };
  const checksOf = (shown: Cube['dimensions']) => (
    <div className="checks">
      {shown.map(({ name, shortTitle }) => (
        <CheckField
          key={name}
          label={shortTitle}
          checked={dimensions.includes(shortOf(name))}
          onValue={(on) => toggle('dimensions', shortOf(name), on)}
        />
      ))}
    </div>
  );
  const needsValue = !['set', 'notSet'].includes(question.operator);
  const filters = [
    ...(question.filter && (!needsValue || question.value)
      ? [
          {
            member: full(question.filter),
            operator: question.operator,
            ...(needsValue && { values: [question.value] }),
          },
        ]
      : []),
    ...question.where.map(({ member, value }) =>
      value === null
        ? { member: full(member), operator: 'notSet' }
        : { member: full(member), operator: 'equals', values: [value] },
    ),
  ] as NonNullable<Query['filters']>;
  const query: Query = {
    measures: measures.map(full),
    dimensions: dimensions.map(full),
    ...within(cube.name, range, question.steps === 'none' ? undefined : question.steps),
    ...(filters.length > 0 && { filters }),
    ...(question.people && cube.segments.length > 0 && { segments: [full('people')] }),
  };

  /** The question about a part of the result: with conditions, and broken down by the next dimension. */
  const drill = (conditions: Condition[], day?: string) => {
    const where = [...question.where, ...conditions];
    const left = dimensions.filter((member) => !conditions.some((one) => one.member === member));
    const isUsed = (member: string) => where.some((one) => one.member === member);
    const next = DRILLED.find((member) => !isUsed(member) && own.some(({ name }) => name === full(member)));
    return question.linkTo({
      where: where.map(writeCondition),
      dimensions: left.length > 0 ? left.join(',') : (next ?? null),
      ...(day && { ...daysOf(day, question.steps), dates: null, steps: 'none' }),
    });
  };
  return (
    <>
      <Suggestions cubes={cubes} />
      <div className="explore">
        <div>
          {/* Above the result where both do not fit side by side, so closed there. */}
          <details open={isWide || undefined}>
            <summary>{t.question}</summary>
            <Card>
              <div className="form">
                <SelectField
                  label={t.cube}
                  value={cube.name}
                  options={cubes.map(({ name, title }) => ({ value: name, label: t.cubes[name] ?? title }))}
                  onValue={(name) =>
                    set({
                      cube: name,
                      measures: null,
                      dimensions: null,
                      filter: null,
                      value: null,
                      where: null,
                    })
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
                      <TextField
                        label={t.value}
                        value={question.value}
                        onValue={(value) => question.type({ value })}
                      />
                    )}
                  </>
                )}
                <fieldset className="wide">
                  <legend>{t.measures}</legend>
                  <div className="checks">
                    {cube.measures.map(({ name, shortTitle }) => (
                      <CheckField
                        key={name}
                        label={helpOf(name) ? `${shortTitle}: ${helpOf(name)}` : shortTitle}
                        checked={measures.includes(shortOf(name))}
                        onValue={(on) => toggle('measures', shortOf(name), on)}
                      />
                    ))}
                  </div>
                </fieldset>
                <fieldset className="wide">
                  <legend>{t.dimensions}</legend>
                  {checksOf(own.filter(({ name }) => !DETAIL.test(name)))}
                  <details open={dimensions.some((member) => DETAIL.test(full(member))) || undefined}>
                    <summary>{t.moreDimensions}</summary>
                    {checksOf(own.filter(({ name }) => DETAIL.test(name)))}
                  </details>
                </fieldset>
                {question.where.length > 0 && (
                  <ul className="wide actions" aria-label={t.conditions}>
                    {question.where.map((condition) => {
                      const text = t.where(
                        titleOf(full(condition.member)),
                        String(textOf(condition.value, full(condition.member))),
                      );
                      const others = question.where.filter((one) => one !== condition);
                      return (
                        <li key={writeCondition(condition)}>
                          <Link
                            className="button small"
                            aria-label={t.remove(text)}
                            to={question.linkTo({ where: others.map(writeCondition) })}
                          >
                            {text} ×
                          </Link>
                        </li>
                      );
                    })}
                  </ul>
                )}
                {cube.segments.length > 0 && (
                  <CheckField
                    label={t.peopleOnly}
                    checked={question.people}
                    onValue={(on) => set({ people: on ? 'yes' : null })}
                  />
                )}
              </div>
            </Card>
          </details>
          <SavedQuestions cube={cube.name} params={question.params} />
        </div>
        <div>
          {measures.length === 0 ? (
            <p>{t.pick}</p>
          ) : (
            <Results
              query={query}
              cube={cube.name}
              measures={measures.map((name) => cube.measures.find((one) => one.name === full(name))!)}
              range={range}
              steps={question.steps}
              titleOf={titleOf}
              title={t.asked(
                t.cubes[cube.name] ?? cube.title,
                dimensions.map((member) => titleOf(full(member))),
              )}
              note={isOfPerk && measures.some((name) => name in texts.rates.ofPerk) ? t.ofPerk : null}
              drill={drill}
              toBefore={question.linkTo({ dates: null, from, to })}
            />
          )}
        </div>
      </div>
    </>
  );
}

interface ResultsProps {
  query: Query;
  cube: string;
  measures: Measure[];
  range: Range;
  steps: Steps;
  titleOf: (member: string) => string;
  /** The question in words. */
  title: string;
  note: string | null;
  /** The URL of the question about a part of the result. */
  drill: (conditions: Condition[], day?: string) => string;
  /** The URL of the same question about the period before. */
  toBefore: string;
}

function Results({
  query,
  cube,
  measures,
  range,
  steps,
  titleOf,
  title,
  note,
  drill,
  toBefore,
}: ResultsProps) {
  const { say } = useNotices();
  const [isSaving, setSaving] = useState(false);
  const dimensions = query.dimensions ?? [];
  const time = steps === 'none' ? null : `${cube}.occurred_at.${steps}`;
  const segmentOf = (row: Row) => JSON.stringify(dimensions.map((member) => row[member] ?? null));
  /** Adds the days, weeks or months without events. */
  const filled = (rows: Row[]) =>
    time && dimensions.length === 0
      ? stepsIn(range, steps as Step).map(
          (step): Row => rows.find((row) => String(row[time]).startsWith(step)) ?? { [time]: step },
        )
      : rows;
  const response = useQuery({
    queryKey: ['explore', query],
    queryFn: async () => {
      const compared = { ...query, ...withBefore(cube, range) };
      // A day, week or month has no counterpart in the period before.
      const parts = loadParts(time ? query : compared);
      const [[rows = [], before = []], totals, values] = await Promise.all([
        parts,
        time || dimensions.length > 0 ? loadParts({ ...compared, dimensions: [] }) : parts,
        query.measures?.includes(VALUE)
          ? loadParts({ ...compared, measures: [VALUE], dimensions: [CURRENCY] })
          : [],
      ]);
      return {
        rows: rows.length > 0 ? filled(rows) : rows,
        before: time ? null : new Map(before.map((row) => [segmentOf(row), row])),
        totals: totals.map(([row]) => row),
        values,
      };
    },
    placeholderData: (previous) => previous,
    ...useLiveInterval(),
  });
  const [total, totalBefore] = response.data?.totals ?? [];
  const [values = [], valuesBefore = []] = response.data?.values ?? [];
  const currencies = [...new Set([...values, ...valuesBefore].flatMap((row) => row[CURRENCY] ?? []))].sort();
  /** The name and the rows of each total of a measure: amounts have one for each currency. */
  const totalsOf = ({ name, shortTitle }: Measure): [string, Row | undefined, Row | undefined][] => {
    if (name !== VALUE || currencies.length === 0) return [[shortTitle, total, totalBefore]];
    return currencies.map((currency) => {
      const ofCurrency = (row: Row) => row[CURRENCY] === currency;
      const title = currencies.length > 1 ? t.totalIn(shortTitle, String(currency)) : shortTitle;
      return [title, values.find(ofCurrency), valuesBefore.find(ofCurrency)];
    });
  };
  const columns: { member: string; name: string; measure?: Measure }[] = [
    ...(time ? [{ member: time, name: texts.steps[steps as Step] }] : []),
    ...dimensions.map((member) => ({ member, name: titleOf(member) })),
    ...measures.map((measure) => ({ member: measure.name, name: measure.shortTitle, measure })),
  ];
  const save = async () => {
    setSaving(true);
    try {
      const rows = await loadRows({ ...query, limit: 50_000 });
      saveCsv(
        `${cube}.csv`,
        columns.map(({ name }) => name),
        filled(rows).map((row) =>
          columns.map(({ member, measure }) => {
            if (measure) return valueOf(row, measure);
            const cell = row[member] ?? null;
            return member === time ? String(cell).slice(0, 10) : cell;
          }),
        ),
      );
    } catch (error) {
      say((error as Error).message, 'bad');
    }
    setSaving(false);
  };

  return (
    <>
      <Card title={title}>
        <div className="stack">
          {response.data && (
            <>
              <Facts
                of={measures.flatMap((measure) =>
                  totalsOf(measure).map(
                    ([name, row, rowBefore]) =>
                      [name, <Compared key={name} {...{ measure, range, row, rowBefore }} />] as const,
                  ),
                )}
              />
              {note && <p className="hint">{note}</p>}
              {linkOnlyIn(total) > 0 && comparedJourneys(total) >= 0 && (
                <p className="hint">{t.linkOnly(linkOnlyIn(total), comparedJourneys(total))}</p>
              )}
              <p className="hint">
                {texts.overview.intro(formatRange(range), formatRange(rangeBefore(range)))}{' '}
                <Link to={toBefore}>{t.showBefore}</Link>
              </p>
            </>
          )}
          <Loaded
            query={response}
            lines={6}
            isEmpty={({ rows }) => rows.length === 0}
            empty={<p>{t.empty}</p>}
          >
            {({ rows }) => (
              <div className="stack">
                <Drawing {...{ rows, measures, dimensions, cube, range, steps, drill }} />
              </div>
            )}
          </Loaded>
        </div>
      </Card>
      <Card
        title={t.table}
        actions={
          <button type="button" className="button" disabled={isSaving} onClick={() => void save()}>
            <Icon name="download" /> {texts.downloadCsv}
          </button>
        }
      >
        <Loaded query={response} isEmpty={({ rows }) => rows.length === 0} empty={<p>{t.empty}</p>}>
          {({ rows, before }) => (
            <div className="stack">
              <p className="hint" role="status">
                {rows.length > SHOWN_ROWS ? t.cut(formatNumber(SHOWN_ROWS)) : t.rows(rows.length)}
              </p>
              <Table
                caption={t.table}
                isTall
                rows={rows}
                atMost={SHOWN_ROWS}
                sortParameter="sort"
                keyOf={(_, index) => index}
                columns={[
                  ...(time
                    ? [
                        {
                          name: texts.steps[steps as Step],
                          isHead: true,
                          sortBy: (row: Row) => row[time] ?? null,
                          cell: (row: Row) => {
                            const day = String(row[time] ?? '').slice(0, 10);
                            const part = partOf(day, steps, range);
                            return (
                              <>
                                <Link to={drill([], day)}>{day}</Link>
                                {part && <span className="hint"> ({part})</span>}
                              </>
                            );
                          },
                        },
                      ]
                    : []),
                  ...dimensions.map((member) => ({
                    name: titleOf(member),
                    sortBy: (row: Row) => row[member] ?? null,
                    cell: (row: Row) => (
                      <Link to={drill([conditionOf(row, member)])}>{textOf(row[member], member)}</Link>
                    ),
                  })),
                  ...measures.map((measure) => ({
                    name: measure.shortTitle,
                    isNumber: true,
                    sortBy: (row: Row) => valueOf(row, measure),
                    cell: (row: Row) =>
                      before ? (
                        <Compared {...{ measure, row, range }} rowBefore={before.get(segmentOf(row))} />
                      ) : (
                        formatValue(valueOf(row, measure), unitOf(measure))
                      ),
                  })),
                ]}
              />
            </div>
          )}
        </Loaded>
      </Card>
      <Developers query={query} />
    </>
  );
}

/** The same question for the analytics API. */
function Developers({ query }: { query: Query }) {
  const { hosts } = useSession();
  const json = JSON.stringify({ timezone: TIMEZONE, ...query }, null, 2);
  const curl = [
    `TOKEN=$(curl -s -H "X-API-Key: $KEY" ${hosts.token}/cube/token | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    // A quote within single quotes: the shell would end the string there.
    `curl -G -H "Authorization: $TOKEN" ${hosts.query}/cubejs-api/v1/load --data-urlencode 'query=${json.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n');
  return (
    <Card>
      <details className="stack">
        <summary>{t.asQuery}</summary>
        <div className="stack">
          <p className="hint">{t.asQueryNote}</p>
          {Object.entries({ [t.json]: json, [t.curl]: curl }).map(([name, text]) => (
            <section key={name} className="stack">
              <div className="card-head">
                <h3>{name}</h3>
                <CopyButton text={text} of={name} />
              </div>
              <pre className="code-block" data-query={name}>
                {text}
              </pre>
            </section>
          ))}
        </div>
      </details>
    </Card>
  );
}

interface DrawingProps {
  rows: Row[];
  measures: Measure[];
  dimensions: string[];
  cube: string;
  range: Range;
  steps: Steps;
  drill: ResultsProps['drill'];
}

const conditionOf = (row: Row, member: string): Condition => ({
  member: shortOf(member),
  value: row[member] === null || row[member] === undefined ? null : String(row[member]),
});

/** Draws every measure: over time as lines, one for each of the largest segments; without time as bars. */
function Drawing({ rows, measures, dimensions, cube, range, steps, drill }: DrawingProps) {
  const hrefOf = (day: string) => drill([], day);
  const noteOf = steps === 'day' ? undefined : (day: string) => partOf(day, steps, range);
  const segmentOf = (row: Row) => dimensions.map((member) => textOf(row[member], member)).join(' · ');
  if (steps === 'none')
    return measures.map((measure) => (
      <section key={measure.name} className="stack">
        <h3>{measure.shortTitle}</h3>
        <Bars
          label={measure.shortTitle}
          unit={unitOf(measure)}
          bars={rows.slice(0, SHOWN_BARS).map((row, index) => ({
            key: String(index),
            label: (
              <Link to={drill(dimensions.map((member) => conditionOf(row, member)))}>
                {segmentOf(row) || measure.shortTitle}
              </Link>
            ),
            value: valueOf(row, measure),
          }))}
        />
        {rows.length > SHOWN_BARS && (
          <p className="hint">{t.others(formatNumber(rows.length - SHOWN_BARS))}</p>
        )}
      </section>
    ));
  const days = stepsIn(range, steps);
  const valuesOf = (own: Row[], measure: Measure) => {
    const byDay = new Map(own.map((row) => [String(row[`${cube}.occurred_at.${steps}`]).slice(0, 10), row]));
    return days.map((day) => valueOf(byDay.get(day), measure));
  };
  if (dimensions.length === 0)
    return [...Map.groupBy(measures, unitOf)].map(([unit, own]) => (
      <TimeSeries
        key={unit}
        title={own.map(({ shortTitle }) => shortTitle).join(', ')}
        days={days}
        step={steps}
        unit={unit}
        {...{ hrefOf, noteOf }}
        series={own.map((measure) => ({ name: measure.shortTitle, values: valuesOf(rows, measure) }))}
      />
    ));
  const segments = [...Map.groupBy(rows, segmentOf)]
    .map(([name, own]) => ({ name, own, sum: sumOf(own, measures[0]!.name) }))
    .sort((one, other) => other.sum - one.sum);
  return (
    <>
      {measures.map((measure) => (
        <section key={measure.name} className="stack">
          <h3>{measure.shortTitle}</h3>
          <TimeSeries
            title={measure.shortTitle}
            days={days}
            step={steps}
            unit={unitOf(measure)}
            {...{ hrefOf, noteOf }}
            series={segments
              .slice(0, SHOWN_SERIES)
              .map(({ name, own }) => ({ name, values: valuesOf(own, measure) }))}
          />
        </section>
      ))}
      {segments.length > SHOWN_SERIES && (
        <p className="hint">{t.otherLines(formatNumber(segments.length - SHOWN_SERIES))}</p>
      )}
    </>
  );
}
