import { instantOf } from './event-rows.js';

describe('instantOf', () => {
  it('formats like Date.toISOString, whatever it formatted before', () => {
    const edges = [0, 1, 999, 1_000, 59_999, 60_000].flatMap((ms) => [
      Date.UTC(2020, 0, 1) + ms,
      Date.UTC(2026, 11, 31, 23, 59) + ms,
    ]);
    const others = Array.from({ length: 2_000 }, (_, index) => Date.UTC(2020, 0, 1) + index * 104_729_033);
    for (const at of [...edges, ...others, ...edges])
      expect(instantOf({ at })).toBe(new Date(at).toISOString());
  });
});
