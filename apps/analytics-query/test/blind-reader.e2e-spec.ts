import { closeAll, http, testNats, waitFor } from '@perkway/testing';
import {
  Analytics,
  anAccountId,
  analyticsDatabase,
  fakeTokenIssuer,
  launchAnalytics,
  signingKey,
  tokenFor,
} from './support.js';

it('is not ready and returns no zero counts if the account setting does not reach the rows', async () => {
  const [database, nats] = await Promise.all([analyticsDatabase(), testNats()]);
  const key = signingKey('k1');
  const issuer = await fakeTokenIssuer(nats.url, () => [key]);
  // As on nodes that do not receive the setting.
  await database.query('alter policy account on reader_probe using (false)');
  const app = await launchAnalytics(database, nats, { ANALYTICS_ROLES: 'query' });
  const analytics = new Analytics(app.url, tokenFor(anAccountId(), key));
  const ready = async () => (await http(app).get('/readyz')).status;

  await waitFor(async () => expect(await ready()).toBe(500), 'failing readiness');
  const { status, body } = await analytics.load({ measures: ['perk_clicks.count'] });
  expect({ status, body }).toEqual({
    status: 503,
    body: { error: 'The analytics database is not available, please try again' },
  });

  await database.query(
    `alter policy account on reader_probe using (account_id = current_setting('perkway.account_id', true))`,
  );
  await waitFor(async () => expect(await ready()).toBe(200), 'readiness, by health probes alone');
  expect(await analytics.count('perk_clicks.count')).toBe(0);
  await closeAll(app, issuer, database, nats);
});
