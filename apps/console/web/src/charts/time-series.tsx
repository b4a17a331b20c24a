import { max } from 'd3-array';
import { scaleLinear, scalePoint } from 'd3-scale';
import { area, curveMonotoneX, line } from 'd3-shape';
import { useId, useState, type PointerEvent } from 'react';
import { dayOf } from '../dates';
import { formatCompact, formatDay, formatLongDay, formatNumber } from '../format';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { useWidth } from './use-width';

export interface Series {
  name: string;
  values: number[];
  /** The comparison period, drawn dashed behind the others. */
  isBefore?: boolean;
}
interface Props {
  title: string;
  days: string[];
  series: Series[];
  height?: number;
}

const MARGIN = { top: 12, right: 12, bottom: 26, left: 44 };

export function TimeSeries({ title, days, series, height = 240 }: Props) {
  const { ref, width } = useWidth();
  const titleId = useId();
  const [at, setAt] = useState<number | null>(null);
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const x = scalePoint<number>()
    .domain(days.map((_, index) => index))
    .range([MARGIN.left, right]);
  const top = max(series, ({ values }) => max(values)) ?? 0;
  const y = scaleLinear()
    .domain([0, Math.max(top, 4)])
    .nice(4)
    .range([bottom, MARGIN.top]);
  const place = (index: number) => x(index) ?? MARGIN.left;
  const path = line<number>(
    (_, index) => place(index),
    (value) => y(value),
  ).curve(curveMonotoneX);
  const fill = area<number>(
    (_, index) => place(index),
    bottom,
    (value) => y(value),
  ).curve(curveMonotoneX);
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
          <span key={name} className={`legend series-${index} ${isBefore ? 'is-before' : ''}`}>
            <i /> {name}
            {read !== null && <b>{formatNumber(values[read] ?? 0)}</b>}
          </span>
        ))}
        <span className="chart-day">{read === null ? '' : formatLongDay(dayOf(days[read]!))}</span>
      </div>
      <div ref={ref}>
        <svg
          role="img"
          aria-labelledby={titleId}
          width={width}
          height={height}
          onPointerMove={pointAt}
          onPointerDown={pointAt}
          onPointerLeave={() => setAt(null)}
        >
          <title id={titleId}>{title}</title>
          {y.ticks(4).map((tick) => (
            <g key={tick} className="grid">
              <line x1={MARGIN.left} x2={right} y1={y(tick)} y2={y(tick)} />
              <text x={MARGIN.left - 8} y={y(tick)} dy="0.32em" textAnchor="end">
                {Number.isInteger(tick) ? formatCompact(tick) : ''}
              </text>
            </g>
          ))}
          {days.map((day, index) =>
            index % every === 0 ? (
              <text key={day} className="tick" x={place(index)} y={height - 6} textAnchor="middle">
                {formatDay(dayOf(day))}
              </text>
            ) : null,
          )}
          {series.map(({ name, values, isBefore }, index) => (
            <g key={name} className={`series-${index} ${isBefore ? 'is-before' : ''}`}>
              {index === 0 && <path className="area" d={fill(values) ?? ''} />}
              <path className="line" d={path(values) ?? ''} />
              {days.length === 1 && <circle className="dot" cx={place(0)} cy={y(values[0] ?? 0)} r={3.5} />}
            </g>
          ))}
          {read !== null && (
            <g className="reading">
              <line x1={place(read)} x2={place(read)} y1={MARGIN.top} y2={bottom} />
              {series.map(({ name, values }, index) => (
                <circle
                  key={name}
                  className={`dot series-${index}`}
                  cx={place(read)}
                  cy={y(values[read] ?? 0)}
                  r={3.5}
                />
              ))}
            </g>
          )}
        </svg>
      </div>
      <details className="chart-table">
        <summary>{texts.asTable}</summary>
        <Table
          caption={title}
          rows={days.map((day, index) => ({ day, index })).reverse()}
          keyOf={({ day }) => day}
          columns={[
            { name: texts.day, isHead: true, cell: ({ day }) => formatLongDay(dayOf(day)) },
            ...series.map(({ name, values }) => ({
              name,
              isNumber: true,
              cell: ({ index }: { index: number }) => formatNumber(values[index] ?? 0),
            })),
          ]}
        />
      </details>
    </figure>
  );
}
