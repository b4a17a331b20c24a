import { max } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';

const WIDTH = 120;
const HEIGHT = 32;

/** A small line chart without axes or numbers. `label` is its text for screen readers. */
export function Sparkline({ label, values }: { label: string; values: number[] }) {
  const y = scaleLinear()
    .domain([0, Math.max(1, max(values) ?? 0)])
    .range([HEIGHT - 2, 3]);
  const x = scaleLinear()
    .domain([0, Math.max(1, values.length - 1)])
    .range([1, WIDTH - 1]);
  return (
    <svg className="sparkline series-0" role="img" aria-label={label} viewBox={`0 0 ${WIDTH} ${HEIGHT}`}>
      <path
        className="area"
        d={
          area<number>(
            (_, i) => x(i),
            HEIGHT,
            (value) => y(value),
          )(values) ?? ''
        }
      />
      <path
        className="line"
        d={
          line<number>(
            (_, i) => x(i),
            (value) => y(value),
          )(values) ?? ''
        }
      />
    </svg>
  );
}
