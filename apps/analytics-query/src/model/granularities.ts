/** A stretch of local time that a time dimension can be grouped by. */
export interface Granularity {
  name: string;
  title: string;
  /** As Cube writes it, so that its client can fill the gaps of a series. */
  interval: string;
  /** From where the intervals are counted, and by how much they are moved. */
  origin?: string;
  offset?: string;
  /** SQL of its start, over SQL of a local time. */
  start: (local: string) => string;
  /** About how long it is: orders granularities, and what is no shorter than a cell of a rollup can be added up from cells. */
  seconds: number;
  /** Of this model, not one that every time dimension has. */
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

/** @param fiscalYearStart the month that a fiscal year begins with, 1 to 12; the year is named after its first day */
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

/** All granularities by name, the finest first. */
export const granularitiesFor = (fiscalYearStart: number): ReadonlyMap<string, Granularity> =>
  new Map(
    [...standard, ...custom(fiscalYearStart)]
      .sort((one, other) => one.seconds - other.seconds)
      .map((each) => [each.name, each]),
  );

/** What Cube says of a granularity, in annotations and in `/v1/meta`. */
export const describeGranularity = ({ name, title, interval, origin, offset }: Granularity) => ({
  name,
  title,
  interval,
  ...(origin ? { origin } : {}),
  ...(offset ? { offset } : {}),
});
