import { FIRST_DAY } from '@perkway/domain/step-amounts';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { isDay, lastDays, lastMonth, thisMonth, type Range } from '../dates';
import { texts } from '../texts';
import { CopyButton } from './copy-button';
import { SelectField, TextField } from './fields';

const PRESETS: Record<string, () => Range> = {
  '7': () => lastDays(7).now,
  '30': () => lastDays(30).now,
  '90': () => lastDays(90).now,
  '365': () => lastDays(365).now,
  month: thisMonth,
  'last-month': lastMonth,
};
const DEFAULT = '30';

/** Keeps the dates in the URL, so that a screen can be shared and bookmarked. */
export function useRange(): {
  range: Range;
  preset: string;
  set: (next: { preset?: string; range?: Range }) => void;
} {
  const [params, setParams] = useSearchParams();
  const [from, to] = [params.get('from'), params.get('to')];
  const own: Range | null = isDay(from) && isDay(to) && from <= to ? [from, to] : null;
  const asked = params.get('dates') ?? DEFAULT;
  const preset = own ? 'own' : asked in PRESETS ? asked : DEFAULT;
  return {
    range: own ?? PRESETS[preset]!(),
    preset,
    set: (next) =>
      setParams(
        (before) => {
          for (const name of ['from', 'to', 'dates']) before.delete(name);
          if (next.range) {
            before.set('from', next.range[0]);
            before.set('to', next.range[1]);
          } else if (next.preset) before.set('dates', next.preset);
          return before;
        },
        // Dates are typed digit by digit, and Back should skip the steps.
        { replace: next.range !== undefined },
      ),
  };
}

/** The URL of the screen with its dates written out, because “the last 30 days” means other days tomorrow. */
function addressOf(params: URLSearchParams, [from, to]: Range): string {
  const written = new URLSearchParams(params);
  written.delete('dates');
  written.set('from', from);
  written.set('to', to);
  return `${location.origin}${location.pathname}?${written}`;
}

interface FieldsProps {
  range: Range;
  onRange: (range: Range) => void;
}

/** Returns false also while a year is typed digit by digit. */
const isRange = ([from, to]: Range) => isDay(from) && isDay(to) && FIRST_DAY <= from && from <= to;

/**
 * The fields of the first and the last day. A day that is being typed can pass the other one, which follows only when the
 * field is left.
 */
export function RangeFields({ range, onRange }: FieldsProps) {
  const [typed, setTyped] = useState<Range | null>(null);
  const [from, to] = typed ?? range;
  const type = (next: Range) => {
    setTyped(next);
    if (isRange(next)) onRange(next);
  };
  const leave = (day: string) => {
    if (typed && !isRange(typed) && isRange([day, day])) onRange([day, day]);
    setTyped(null);
  };
  return (
    <>
      <TextField
        label={texts.dates.from}
        type="date"
        value={from}
        max={to}
        onValue={(day) => type([day, to])}
        onBlur={() => leave(from)}
      />
      <TextField
        label={texts.dates.to}
        type="date"
        value={to}
        min={from}
        onValue={(day) => type([from, day])}
        onBlur={() => leave(to)}
      />
    </>
  );
}

export function RangePicker() {
  const { range, preset, set } = useRange();
  const [params] = useSearchParams();
  const { dates } = texts;
  return (
    <div className="range-picker" role="group" aria-label={dates.group}>
      <SelectField
        label={dates.dates}
        value={preset}
        options={[
          ...Object.keys(PRESETS).map((name) => ({ value: name, label: dates.presets[name]! })),
          { value: 'own', label: dates.own },
        ]}
        onValue={(value) => set(value === 'own' ? { range } : { preset: value })}
      />
      <RangeFields range={range} onRange={(own) => set({ range: own })} />
      <CopyButton label={texts.copyLink} text={addressOf(params, range)} />
    </div>
  );
}
