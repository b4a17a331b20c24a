import { Webhook } from 'standardwebhooks';
import { newWebhookSecret, webhookHeaders } from './webhook-signature.js';

const body = JSON.stringify({ id: 'e1', data: { name: 'é ☃' } });

describe('webhookHeaders', () => {
  const [secret, previous] = [newWebhookSecret(), newWebhookSecret()];

  it('verify with the reference library', () => {
    const headers = webhookHeaders([secret], 'e1', Date.now(), body);
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(previous).verify(body, headers)).toThrow();
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  });

  it('verify with either of two secrets', () => {
    const headers = webhookHeaders([secret, previous], 'e1', Date.now(), body);
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const each of [secret, previous]) new Webhook(each).verify(body, headers);
  });
});

it('use generated secrets of 32 random bytes', () => {
  const secret = newWebhookSecret();
  expect(secret).toMatch(/^whsec_/);
  expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  expect(newWebhookSecret()).not.toBe(secret);
});
