import { BodyRoom } from './body-room.js';

let room: BodyRoom;
let entered: string[];
beforeEach(() => {
  room = new BodyRoom(16, 4);
  entered = [];
});
const ask = (from: string, bytes: number, name = from) => room.ask(from, bytes, () => entered.push(name));

it('lets in what fits, and others when there is a place again', () => {
  const leave = [1, 2, 3, 4].map((source) => ask(`source-${source}`, 4));
  const fifth = ask('source-5', 4);
  expect(entered).toHaveLength(4);
  leave[0]!();
  leave[0]!();
  expect(entered.at(-1)).toBe('source-5');
  fifth();
  expect(entered).toHaveLength(5);
});

it('keeps the share of a source, and nobody else waits for it', () => {
  const leave = ['a1', 'a2', 'a3'].map((name) => ask('a', 3, name));
  ask('b', 4);
  expect(entered).toEqual(['a1', 'b']);
  leave[0]!();
  expect(entered).toEqual(['a1', 'b', 'a2']);
});

it('takes a body that is larger than a share, or than the room, by itself', () => {
  const leave = ask('a', 20);
  ask('b', 1);
  expect(entered).toEqual(['a']);
  leave();
  ask('b', 8, 'larger than its share');
  expect(entered).toEqual(['a', 'b']);
});

it('gives sources their turns, however many of one wait', () => {
  const first = ask('x', 16);
  for (const name of ['a1', 'a2', 'a3']) ask('a', 2, name);
  ask('b', 2);
  first();
  expect(entered).toEqual(['x', 'a1', 'b', 'a2']);
});

it('forgets what is not wanted any more before it had a place', () => {
  const first = ask('a', 4);
  const second = ask('a', 4, 'second');
  ask('a', 4, 'third');
  second();
  first();
  expect(entered).toEqual(['a', 'third']);
});
