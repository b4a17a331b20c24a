import { BodyMemoryBudget } from './body-memory-budget.js';

let room: BodyMemoryBudget;
let entered: string[];
beforeEach(() => {
  room = new BodyMemoryBudget(16, 4);
  entered = [];
});
const sendRequest = (from: string, bytes: number, name = from) =>
  room.request(from, bytes, () => entered.push(name));

it('admits bodies that fit, and others once budget is free again', () => {
  const leave = [1, 2, 3, 4].map((source) => sendRequest(`source-${source}`, 4));
  const fifth = sendRequest('source-5', 4);
  expect(entered).toHaveLength(4);
  leave[0]!();
  leave[0]!();
  expect(entered.at(-1)).toBe('source-5');
  fifth();
  expect(entered).toHaveLength(5);
});

it('limits the share of a source, and delays no other source', () => {
  const leave = ['a1', 'a2', 'a3'].map((name) => sendRequest('a', 3, name));
  sendRequest('b', 4);
  expect(entered).toEqual(['a1', 'b']);
  leave[0]!();
  expect(entered).toEqual(['a1', 'b', 'a2']);
});

it('admits a body larger than a share or the whole budget on its own', () => {
  const leave = sendRequest('a', 20);
  sendRequest('b', 1);
  expect(entered).toEqual(['a']);
  leave();
  sendRequest('b', 8, 'larger than its share');
  expect(entered).toEqual(['a', 'b']);
});

it('lets sources take turns, however many bodies of one wait', () => {
  const first = sendRequest('x', 16);
  for (const name of ['a1', 'a2', 'a3']) sendRequest('a', 2, name);
  sendRequest('b', 2);
  first();
  expect(entered).toEqual(['x', 'a1', 'b', 'a2']);
});

it('drops a waiting body that is no longer wanted', () => {
  const first = sendRequest('a', 4);
  const second = sendRequest('a', 4, 'second');
  sendRequest('a', 4, 'third');
  second();
  first();
  expect(entered).toEqual(['a', 'third']);
});
