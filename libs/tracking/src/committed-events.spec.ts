import { CommittedEvents } from './committed-events.js';

describe('CommittedEvents', () => {
  it('returns events once, oldest first', () => {
    const committed = new CommittedEvents();
    committed.add(['a', 'b'], 0);
    committed.add([], 1);
    committed.add(['c'], 2);
    expect(committed.takeAll(3)).toEqual(['a', 'b', 'c']);
    expect(committed.takeAll(3)).toEqual([]);
  });

  it('forgets events after their time', () => {
    const committed = new CommittedEvents(100);
    committed.add(['a'], 0);
    committed.add(['b'], 50);
    expect(committed.takeAll(101)).toEqual(['b']);
  });

  it('drops old events to make room for later ones', () => {
    const committed = new CommittedEvents(100, 3);
    committed.add(['a', 'b'], 0);
    committed.add(['c'], 0);
    committed.add(['d'], 0);
    expect(committed.takeAll(0)).toEqual(['c', 'd']);
  });
});
