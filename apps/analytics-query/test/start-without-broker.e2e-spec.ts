import { closeAll, testNats, http, waitFor } from '@perkway/testing';
import {
  Analytics,
  anAccountId,
  analyticsDatabase,
  click,
  fakeTokenIssuer,
  launchAnalytics,
  Publisher,
  signingKey,
  tokenFor,
} from './support.js';

it('starts without the broker and token-issuer, responds with 503, and recovers when they are up', async () => {
  const [database, nats] = await Promise.all([analyticsDatabase(), testNats()]);
  await nats.kill();
  const app = await launchAnalytics(database, nats);
  const key = signingKey('k1');
  const account = anAccountId();
  const analytics = new Analytics(app.url, tokenFor(account, key));
  await waitFor(async () => expect((await http(app).get('/readyz')).status).toBe(200), 'readiness');
  const { status, body, headers } = await analytics.load({ measures: ['perk_clicks.count'] });
  expect({ status, body }).toEqual({
    status: 503,
    body: { error: 'The token service is not available, please try again' },
  });
  expect(headers['retry-after']).toMatch(/^\d+$/);

  await nats.restart();
  const issuer = await fakeTokenIssuer(nats.url, () => [key]);
  const publisher = await Publisher.connect(nats.url);
  await publisher.events(click(account));
  await waitFor(async () => expect(await analytics.count('perk_clicks.count')).toBe(1), '1 event');
  await closeAll(publisher, issuer, app, database, nats);
});
