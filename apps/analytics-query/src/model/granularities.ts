/** A unit of local time to group a time dimension by. */
export interface Granularity {
  name: string;
  title: string;
  /** In Cube's notation, so that its client can fill gaps in a series. */
  interval: string;
  /** A start of an interval, from which the others are counted. */
  origin?: string;
  offset?: string;
  /** SQL for the start of the interval, given SQL of a local time. */
  start: (local: string) => string;
  /**
   * Approximate length. Orders granularities; those at least as long as a rollup's grain can be summed from its rows.
   */
  seconds: number;
  /** Defined by this model, not one of the standard granularities. */
  isCustom: boolean;
}

const DAY = 86_400;
const STANDARD = {
  second: 1,
  minute: 60,
  hour: 3_600,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  quarter: 91 * DAY,
  year: 365 * DAY,
};

const standard = Object.entries(STANDARD).map(([name, seconds]): Granularity => ({
  name,
  title: name,
  interval: `1 ${name}`,
  start: (local) => `date_trunc('${name}', ${local})`,
  seconds,
  isCustom: false,
}));

/** @param fiscalYearStart first month of the fiscal year, 1 to 12. The value of a fiscal year is its first day. */
const custom = (fiscalYearStart: number): Granularity[] => {
  const months = `${fiscalYearStart - 1} months`;
  return [
    {
      name: 'quarter_hour',
      title: 'Quarter of an hour',
      interval: '15 minutes',
      origin: '2020-01-01T00:00:00.000',
      start: (local) => `date_bin('15 minutes', ${local}, timestamp '2020-01-01')`,
      seconds: 900,
      isCustom: true,
    },
    {
      name: 'week_from_sunday',
      title: 'Week from Sunday',
      interval: '1 week',
      origin: '2020-01-05T00:00:00.000',
      start: (local) => `(date_trunc('week', ${local} + interval '1 day') - interval '1 day')`,
      seconds: STANDARD.week,
      isCustom: true,
    },
    {
      name: 'fiscal_year',
      title: 'Fiscal year',
      interval: '1 year',
      ...(fiscalYearStart > 1 ? { offset: months } : {}),
      start: (local) => `(date_trunc('year', ${local} - interval '${months}') + interval '${months}')`,
      seconds: STANDARD.year,
      isCustom: true,
    },
  ];
};

/** Returns all granularities by name, the finest first. */
export const granularitiesFor = (fiscalYearStart: number): ReadonlyMap<string, Granularity> =>
  new Map(
    [...standard, ...custom(fiscalYearStart)]
      .sort((one, other) => one.seconds - other.seconds)
      .map((each) => [each.name, each]),
  );

/** Describes a granularity as Cube does in annotations and `/v1/meta`. */
export const describeGranularity = ({ name, title, interval, origin, offset }: Granularity) => ({
  name,
  title,
  interval,
  ...(origin ? { origin } : {}),
  ...(offset ? { offset } : {}),
});
