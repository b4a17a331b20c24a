import { DEMO_HISTORY, eventsOf, journeysOf } from '../src/demo-history';

const DAY = 20_000;
const ofYear = () => Array.from({ length: 365 }, (_, index) => [...eventsOf(DAY + index)]).flat();

describe('the history of the demo', () => {
  it('is the same each time, with a unique id per event', () => {
    const events = ofYear();
    expect(ofYear()).toEqual(events);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(events.length).toBeLessThan(25_000);
  });

  it('marks every event as demo data', () => {
    for (const event of ofYear()) {
      expect(event.id).toMatch(/^demo-/);
      expect(event).toMatchObject({ account: DEMO_HISTORY.account, cmeta: { demo: 'history' } });
    }
  });

  it('is a plausible funnel: no step exceeds the one before, and events are on the day in their id', () => {
    const events = ofYear();
    const of = (type: string) => events.filter((event) => event.type === type).length;
    const steps = ['teaser_view', 'reward_view', 'incentive_click', 'conversion'].map(of);
    expect([...steps].sort((a, b) => b - a)).toEqual(steps);
    expect(steps[2]! / steps[0]!).toBeGreaterThan(0.1);
    expect(steps[3]).toBeGreaterThan(100);
    for (const { id, at } of events) {
      expect(Number.isInteger(at)).toBe(true);
      expect(Math.floor(at / 86_400_000)).toBe(Number(id.split('-')[1]));
    }
    // A Tuesday in spring has more journeys than a Sunday in August.
    const on = (day: string) => journeysOf(Date.parse(day) / 86_400_000);
    expect(Math.max(on('2026-04-07'), on('2026-04-14'))).toBeGreaterThan(4 * on('2026-08-02'));
  });
});
