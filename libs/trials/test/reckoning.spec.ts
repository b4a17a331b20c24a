import type { Attempt } from '../src/load.js';
import { longestSilence, reckon, type Stored } from '../src/reckoning.js';

const stored = (given: Partial<Stored>): Stored => ({
  events: new Map(),
  linkEvents: new Map(),
  links: new Map(),
  ...given,
});
const attempt = (given: Partial<Attempt>): Attempt => ({
  surface: 'click',
  id: 'a',
  phase: 0,
  begunAt: 0,
  answeredAt: 1,
  refusals: 0,
  ...given,
});
const sumOf = (attempts: Attempt[], found: Partial<Stored>) => {
  const { lost, doubled } = reckon(attempts, stored(found)).sums.get(0)!.get(attempts[0]!.surface)!;
  return { lost, doubled };
};
const HOLDS = { lost: 0, doubled: 0 };
const LOST = { lost: 1, doubled: 0 };
const DOUBLED = { lost: 0, doubled: 1 };

describe('an event', () => {
  it.each([
    ['answered and there once', 1, 1, HOLDS],
    ['answered and not there', 1, 0, LOST],
    ['answered and there twice', 1, 2, DOUBLED],
    ['not answered and not there', undefined, 0, HOLDS],
    ['not answered and there once', undefined, 1, HOLDS],
    ['not answered and there twice', undefined, 2, DOUBLED],
  ])('%s', (_, answeredAt, times, expected) => {
    expect(sumOf([attempt({ answeredAt })], { events: new Map([['a', times]]) })).toEqual(expected);
  });
});

describe('a reward link', () => {
  const made = attempt({ surface: 'generate', linkId: 'l' });
  const row = { id: 'l', isRevealed: false, isCancelled: false };
  const links = new Map([['a', [row]]]);

  it('is there with its event', () => {
    expect(sumOf([made], { links, linkEvents: new Map([['l:generated', 1]]) })).toEqual(HOLDS);
  });

  it.each<[string, Partial<Stored>, object]>([
    ['without a row', { linkEvents: new Map([['l:generated', 1]]) }, LOST],
    ['without its event', { links }, LOST],
    ['of another id than was answered', { links: new Map([['a', [{ ...row, id: 'm' }]]]) }, LOST],
    ['twice', { links: new Map([['a', [row, { ...row, id: 'm' }]]]) }, DOUBLED],
    ['counted twice', { links, linkEvents: new Map([['l:generated', 2]]) }, DOUBLED],
  ])('is noticed %s', (_, found, expected) => expect(sumOf([made], found)).toEqual(expected));

  it.each(['reveal', 'cancel'] as const)('is looked at after %s', (surface) => {
    const ended = attempt({ surface, linkId: 'l', id: 'b' });
    const state = { reveal: 'revealed', cancel: 'cancelled' }[surface];
    const linkEvents = new Map([[`l:${state}`, 1]]);
    expect(sumOf([ended], { links, linkEvents })).toEqual(LOST);
    const changed = { ...row, isRevealed: surface === 'reveal', isCancelled: surface === 'cancel' };
    const found = { links: new Map([['a', [changed]]]) };
    expect(sumOf([ended], found)).toEqual(LOST);
    expect(sumOf([ended], { ...found, linkEvents })).toEqual(HOLDS);
  });
});

describe('the longest silence', () => {
  const at = (answeredAt?: number) => attempt({ answeredAt });

  it('is between two answers, before the first or after the last', () => {
    expect(longestSilence([at(30), at(10), at(undefined), at(22)], 'click', 5, 40)).toBe(12);
    expect(longestSilence([at(30), at(10)], 'click', 5, 60)).toBe(30);
    expect(longestSilence([at(1), at(90)], 'click', 5, 60)).toBe(55);
    expect(longestSilence([at(30)], 'read', 5, 60)).toBe(55);
  });
});
