import { TRACKING_EVENT_VERSION } from '@perkway/domain';
import { completeEvent, prepareEvent } from './prepared-event.js';

describe('completeEvent', () => {
  const common = {
    v: TRACKING_EVENT_VERSION as typeof TRACKING_EVENT_VERSION,
    type: 'perk_click' as const,
    account: 'acme',
    collection: 'c',
    perk: 'p',
  };
  const traffic = { class: 'human' as const, reason: 'none' };
  const complete = (details: Parameters<typeof completeEvent>[2]) =>
    JSON.parse(completeEvent(prepareEvent(common), traffic, details)) as Record<string, unknown>;

  it('adds an id, the time and the traffic to the prepared members', () => {
    const before = Date.now();
    const event = complete({});
    expect(event).toEqual({ ...common, traffic, id: expect.stringMatching(/^[\w-]{22}$/), at: event.at });
    expect(event.at).toBeGreaterThanOrEqual(before);
    expect(complete({}).id).not.toBe(event.id);
  });

  it('escapes details and leaves out undefined ones', () => {
    const journey = 'a"b\\c\n\u2028';
    const cmeta = Object.assign(
      Object.create(null) as Record<string, string>,
      JSON.parse('{"__proto__":"x"}'),
    );
    expect(complete({ journey: undefined })).not.toHaveProperty('journey');
    expect(complete({ journey, utm: { utm_source: '"' } })).toMatchObject({
      journey,
      utm: { utm_source: '"' },
    });
    expect(completeEvent(prepareEvent(common), traffic, { cmeta })).toContain(',"cmeta":{');
  });
});
