import type { Attempt } from '../src/load.js';
import { longestSilence, reconcile, type Stored } from '../src/reconciliation.js';

const stored = (given: Partial<Stored>): Stored => ({
  events: new Map(),
  linkEvents: new Map(),
  links: new Map(),
  ...given,
});
const attempt = (given: Partial<Attempt>): Attempt => ({
  operation: 'click',
  id: 'a',
  phase: 0,
  begunAt: 0,
  acknowledgedAt: 1,
  refusals: 0,
  ...given,
});
const sumOf = (attempts: Attempt[], found: Partial<Stored>) => {
  const { lost, duplicated } = reconcile(attempts, stored(found)).sums.get(0)!.get(attempts[0]!.operation)!;
  return { lost, duplicated };
};
const HOLDS = { lost: 0, duplicated: 0 };
const LOST = { lost: 1, duplicated: 0 };
const DUPLICATED = { lost: 0, duplicated: 1 };

describe('an event', () => {
  it.each([
    ['acknowledged and stored once', 1, 1, HOLDS],
    ['acknowledged and not stored', 1, 0, LOST],
    ['acknowledged and stored twice', 1, 2, DUPLICATED],
    ['not acknowledged and not stored', undefined, 0, HOLDS],
    ['not acknowledged and stored once', undefined, 1, HOLDS],
    ['not acknowledged and stored twice', undefined, 2, DUPLICATED],
  ])('%s', (_, acknowledgedAt, times, expected) => {
    expect(sumOf([attempt({ acknowledgedAt })], { events: new Map([['a', times]]) })).toEqual(expected);
  });
});

describe('a reward link', () => {
  const made = attempt({ operation: 'generate', linkId: 'l' });
  const row = { id: 'l', isRevealed: false, isCancelled: false };
  const links = new Map([['a', [row]]]);

  it('is stored with its event', () => {
    expect(sumOf([made], { links, linkEvents: new Map([['l:generated', 1]]) })).toEqual(HOLDS);
  });

  it.each<[string, Partial<Stored>, object]>([
    ['has no row', { linkEvents: new Map([['l:generated', 1]]) }, LOST],
    ['has no event', { links }, LOST],
    ['has another id than acknowledged', { links: new Map([['a', [{ ...row, id: 'm' }]]]) }, LOST],
    ['exists twice', { links: new Map([['a', [row, { ...row, id: 'm' }]]]) }, DUPLICATED],
    ['is counted twice', { links, linkEvents: new Map([['l:generated', 2]]) }, DUPLICATED],
  ])('is reported if it %s', (_, found, expected) => expect(sumOf([made], found)).toEqual(expected));

  it.each(['reveal', 'cancel'] as const)('is checked after %s', (operation) => {
    const ended = attempt({ operation, linkId: 'l', id: 'b' });
    const state = { reveal: 'revealed', cancel: 'cancelled' }[operation];
    const linkEvents = new Map([[`l:${state}`, 1]]);
    expect(sumOf([ended], { links, linkEvents })).toEqual(LOST);
    const changed = { ...row, isRevealed: operation === 'reveal', isCancelled: operation === 'cancel' };
    const found = { links: new Map([['a', [changed]]]) };
    expect(sumOf([ended], found)).toEqual(LOST);
    expect(sumOf([ended], { ...found, linkEvents })).toEqual(HOLDS);
  });
});

describe('the longest silence', () => {
  const at = (acknowledgedAt?: number) => attempt({ acknowledgedAt });

  it('is between two acknowledgments, before the first or after the last', () => {
    expect(longestSilence([at(30), at(10), at(undefined), at(22)], 'click', 5, 40)).toBe(12);
    expect(longestSilence([at(30), at(10)], 'click', 5, 60)).toBe(30);
    expect(longestSilence([at(1), at(90)], 'click', 5, 60)).toBe(55);
    expect(longestSilence([at(30)], 'read', 5, 60)).toBe(55);
  });
});
