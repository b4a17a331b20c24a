import { Webhook } from 'standardwebhooks';
import { EVENT_TYPES } from '@perkway/domain';
import { verifyWebhook, WebhookVerificationError, type EventData } from '../src/index';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const event = {
  id: 'e1',
  type: 'reward_link.revealed',
  occurred_at: '2026-11-05T09:30:00.000Z',
  subject: 'reward_link/é',
  data: { revealed_at: '2026-11-05T09:30:00.000Z' },
};
const body = JSON.stringify(event);
const headersOf = (at = new Date(), by = secret) => ({
  'webhook-id': 'e1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': new Webhook(by).sign('e1', at, body),
});

describe('verifyWebhook', () => {
  it('returns the event of a signed delivery, for each type of body and headers', () => {
    const headers = headersOf();
    for (const given of [headers, new Headers(headers), { 'Webhook-Id': ['e1'], ...headers }])
      expect(verifyWebhook(body, given, secret)).toEqual(event);
    expect(verifyWebhook(Buffer.from(body), headers, secret)).toEqual(event);
    expect(verifyWebhook(body, headers, [other, secret])).toEqual(event);
  });

  it('returns a union whose type tells which data the event has', () => {
    const read = verifyWebhook(body, headersOf(), secret);
    if (read.type !== 'reward_link.revealed') throw new Error(read.type);
    const revealedAt: string | null = read.data.revealed_at;
    expect(revealedAt).toBe('2026-11-05T09:30:00.000Z');
    // @ts-expect-error A reward link has no value.
    expect(read.data.value).toBeUndefined();
    const types: (typeof read)['type'][] = ['reward_link.revealed'];
    // @ts-expect-error No event has this type.
    types.push('perk.viewed');
  });

  it('knows the data of every type', () => {
    const types: readonly (keyof EventData)[] = EVENT_TYPES;
    expect(types).toContain('webhook.ping');
  });

  it('accepts any of several signatures', () => {
    const headers = headersOf();
    const signature = `v1a,x v1,AAAA ${headersOf(new Date(), other)['webhook-signature']} ${headers['webhook-signature']}`;
    expect(verifyWebhook(body, { ...headers, 'webhook-signature': signature }, secret)).toEqual(event);
  });

  it.each([
    ['another secret', body, headersOf(new Date(), other)],
    ['another body', body.replace('e1', 'e2'), headersOf()],
    ['another id', body, { ...headersOf(), 'webhook-id': 'e2' }],
    [
      'another time',
      body,
      { ...headersOf(), 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 60) },
    ],
    ['an old time', body, headersOf(new Date(Date.now() - 301_000))],
    ['a future time', body, headersOf(new Date(Date.now() + 302_000))],
    ['no time', body, { ...headersOf(), 'webhook-timestamp': 'now' }],
    ['no headers', body, {}],
    ['an empty signature', body, { ...headersOf(), 'webhook-signature': 'v1,' }],
    [
      'another version',
      body,
      { ...headersOf(), 'webhook-signature': headersOf()['webhook-signature'].replace('v1', 'v2') },
    ],
  ])('rejects %s', (_what, text, headers) => {
    expect(() => verifyWebhook(text, headers, secret)).toThrow(WebhookVerificationError);
  });

  it('rejects an empty secret', () => {
    expect(() => verifyWebhook(body, headersOf(), 'whsec_')).toThrow(TypeError);
  });
});
