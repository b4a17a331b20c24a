import { AtRiskBuffer } from './at-risk-buffer.js';

describe('AtRiskBuffer', () => {
  it('returns events first in, first out, within both limits of a take', () => {
    const buffer = new AtRiskBuffer(100, 1_000);
    expect(buffer.push(['aa', 'bb', 'cc', 'dd'])).toBe(0);
    expect(buffer.take(3, 4)).toEqual(['aa', 'bb']);
    expect(buffer.take(1, 100)).toEqual(['cc']);
    expect(buffer.take(1, 1)).toEqual(['dd']);
    expect(buffer.take(1, 1)).toEqual([]);
  });

  it('drops the oldest events beyond the limits on number and size', () => {
    const buffer = new AtRiskBuffer(3, 10);
    expect(buffer.push(['1', '2', '3', '4', '5'])).toBe(2);
    expect(buffer.push(['123456789'])).toBe(2);
    expect(buffer.take(10, 100)).toEqual(['5', '123456789']);
  });

  it('treats returned events as the oldest again, even if they no longer fit', () => {
    const buffer = new AtRiskBuffer(3, 100);
    buffer.push(['1', '2', '3']);
    const taken = buffer.take(2, 100);
    buffer.push(['4', '5']);
    expect(buffer.putBack(taken)).toBe(2);
    expect(buffer.take(10, 100)).toEqual(['3', '4', '5']);
    expect(buffer.size).toBe(0);
  });

  it('keeps its order over many rounds', () => {
    const buffer = new AtRiskBuffer(5_000, 1_000_000);
    let next = 0;
    let expected = 0;
    for (let round = 0; round < 200; round += 1) {
      buffer.push(Array.from({ length: 60 }, () => String(next++)));
      for (const event of buffer.take(50, 1_000)) expect(event).toBe(String(expected++));
    }
    expect(buffer.size).toBe(next - expected);
  });
});
