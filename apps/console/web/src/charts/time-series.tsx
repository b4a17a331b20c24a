import { max } from 'd3-array';
import { scaleLinear, scalePoint } from 'd3-scale';
import { area, line } from 'd3-shape';
import { Link, useNavigate } from 'react-router';
import { useId, useState, type PointerEvent } from 'react';
import { dayOf, type Step } from '../dates';
import { formatCompact, formatDay, formatMonth, formatLongDay, formatValue, type Unit } from '../format';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { useWidth } from './use-width';

export interface Series {
  name: string;
  /** Null where there is nothing to divide by: the line has a gap there. */
  values: (number | null)[];
  /** Whether it is the comparison period, which is drawn as a dashed gray line. */
  isBefore?: boolean;
}
interface Props {
  title: string;
  /** The first day of each step. */
  days: string[];
  step?: Step;
  unit?: Unit;
  series: Series[];
  height?: number;
  /** The breakdown of a step, which a click on it opens. */
  hrefOf?: (day: string) => string;
  /** A remark on a step that is not like the others, such as a week of which only two days are in the dates. */
  noteOf?: (day: string) => string | null;
}

const COLORS = 6;
const isAlone = (values: (number | null)[], at: number) =>
  (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;
const MARGIN = { top: 12, right: 12, bottom: 26, left: 44 };

export function TimeSeries({
  title,
  days,
  series: given,
  step = 'day',
  unit = 'count',
  height = 240,
  hrefOf,
  noteOf,
}: Props) {
  // The month before can have more or fewer days.
  const series = given.map((each) => ({
    ...each,
    values: days.map((_, index) => each.values[index] ?? null),
  }));
  const { ref, width } = useWidth();
  const navigate = useNavigate();
  const titleId = useId();
  const [at, setAt] = useState<number | null>(null);
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const x = scalePoint<number>()
    .domain(days.map((_, index) => index))
    .range([MARGIN.left, right]);
  const top = max(series, ({ values }) => max(values, (value) => value ?? 0)) ?? 0;
  const y = scaleLinear()
    .domain([0, Math.max(top, unit === 'percent' ? 0.04 : 4)])
    .nice(4)
    .range([bottom, MARGIN.top]);
  const place = (index: number) => x(index) ?? MARGIN.left;
  // Straight lines: a curve would show values between the points that never were.
  const path = line<number | null>(
    (_, index) => place(index),
    (value) => y(value ?? 0),
  ).defined((value) => value !== null);
  const fill = area<number | null>(
    (_, index) => place(index),
    bottom,
    (value) => y(value ?? 0),
  ).defined((value) => value !== null);
  const nameOf = (day: string) => {
    const name =
      step === 'month'
        ? formatMonth(day.slice(0, 7))
        : step === 'week'
          ? texts.weekOf(formatLongDay(dayOf(day)))
          : formatLongDay(dayOf(day));
    const note = noteOf?.(day);
    return note ? `${name} (${note})` : name;
  };
  const partial = days.filter((day) => noteOf?.(day));
  const textOf = (value: number | null | undefined) => formatValue(value, unit);
  const ticksWanted = Math.max(2, Math.floor((right - MARGIN.left) / 90));
  const every = Math.max(1, Math.ceil(days.length / ticksWanted));
  const pointAt = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) => {
    const share =
      (clientX - currentTarget.getBoundingClientRect().left - MARGIN.left) / (right - MARGIN.left);
    setAt(Math.min(days.length - 1, Math.max(0, Math.round(share * (days.length - 1)))));
  };
  const read = at !== null && at < days.length ? at : null;

  return (
    <figure className="chart">
      <div className="chart-legend" aria-hidden="true">
        {series.map(({ name, values, isBefore }, index) => (
          <span key={name} className={`legend series-${index % COLORS} ${isBefore ? 'is-before' : ''}`}>
            <i /> {name}
            {read !== null && <b>{textOf(values[read])}</b>}
          </span>
        ))}
        <span className="chart-day">{read === null ? '' : nameOf(days[read]!)}</span>
      </div>
      <div ref={ref}>
        <svg
          role="img"
          aria-labelledby={titleId}
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          onPointerMove={pointAt}
          onPointerDown={pointAt}
          onPointerLeave={() => setAt(null)}
          onClick={() => hrefOf && read !== null && void navigate(hrefOf(days[read]!))}
          className={hrefOf && 'leads'}
        >
          <title id={titleId}>{title}</title>
          {y.ticks(4).map((tick) => (
            <g key={tick} className="grid">
              <line x1={MARGIN.left} x2={right} y1={y(tick)} y2={y(tick)} />
              <text x={MARGIN.left - 8} y={y(tick)} dy="0.32em" textAnchor="end">
                {unit === 'percent'
                  ? formatValue(tick, unit)
                  : Number.isInteger(tick)
                    ? formatCompact(tick)
                    : ''}
              </text>
            </g>
          ))}
          {days.map((day, index) =>
            index % every === 0 ? (
              <text
                key={day}
                className="tick"
                x={place(index)}
                y={height - 6}
                textAnchor={index > 0 && index === days.length - 1 ? 'end' : 'middle'}
              >
                {formatDay(dayOf(day))}
              </text>
            ) : null,
          )}
          {series.map(({ name, values, isBefore }, index) => (
            <g key={name} className={`series-${index % COLORS} ${isBefore ? 'is-before' : ''}`}>
              {index === 0 && <path className="area" d={fill(values) ?? ''} />}
              <path className="line" d={path(values) ?? ''} />
              {values.map((value, at) =>
                value !== null && (isAlone(values, at) || partial.includes(days[at]!)) ? (
                  <circle
                    key={at}
                    className={partial.includes(days[at]!) ? 'dot is-partial' : 'dot'}
                    cx={place(at)}
                    cy={y(value)}
                    r={3.5}
                  />
                ) : null,
              )}
            </g>
          ))}
          {read !== null && (
            <g className="reading">
              <line x1={place(read)} x2={place(read)} y1={MARGIN.top} y2={bottom} />
              {series.map(({ name, values }, index) =>
                values[read] === null ? null : (
                  <circle
                    key={name}
                    className={`dot series-${index % COLORS}`}
                    cx={place(read)}
                    cy={y(values[read] ?? 0)}
                    r={3.5}
                  />
                ),
              )}
            </g>
          )}
        </svg>
      </div>
      {partial.length > 0 && <p className="hint">{texts.partial(partial.map(nameOf))}</p>}
      {given.some(({ values }) => values.length > days.length) && (
        <p className="hint">{texts.longerBefore}</p>
      )}
      <details className="chart-table">
        <summary>{texts.asTable}</summary>
        <Table
          caption={title}
          rows={days.map((day, index) => ({ day, index })).reverse()}
          keyOf={({ day }) => day}
          columns={[
            {
              name: texts.steps[step],
              isHead: true,
              cell: ({ day }) => (hrefOf ? <Link to={hrefOf(day)}>{nameOf(day)}</Link> : nameOf(day)),
            },
            ...series.map(({ name, values }) => ({
              name,
              isNumber: true,
              cell: ({ index }: { index: number }) => textOf(values[index]),
            })),
          ]}
        />
      </details>
    </figure>
  );
}
