import { RESOLVE_OFFERS } from '@perkway/domain';
import { loadEnv, platformEnv } from '@perkway/platform';
import {
  closeAll,
  respond,
  fakeCatalogue,
  launchApp,
  testNats,
  waitFor,
  type LaunchedApp,
  type TestNats,
} from '@perkway/testing';
import { PerkDirectory, PerkDirectoryModule } from '../src';

const COUNT = 600;
const ids = Array.from({ length: COUNT }, (_, index) => `perk-${index}`);
/** As large as the management API allows; each character takes six bytes in a message. */
const LARGEST = {
  title: '\u0001'.repeat(300),
  callout: '\u0001'.repeat(1_000),
  description: '\u0001'.repeat(20_000),
  redemptionNote: '\u0001'.repeat(5_000),
  details: '\u0001'.repeat(50_000),
};

describe('the perk directory', () => {
  let nats: TestNats;
  let app: LaunchedApp;
  let perks: PerkDirectory;
  const offers = new Map<string, string>();
  const offer = (version: string) => {
    for (const id of ids) offers.set(id, `https://shop.example/${id}?${version}${'x'.repeat(2_000)}`);
  };
  beforeAll(async () => {
    nats = await testNats();
    app = await launchApp({
      name: 'boost',
      module: PerkDirectoryModule,
      env: loadEnv(platformEnv, { PORT: '1', NATS_URL: nats.url }),
    });
    perks = app.app.get(PerkDirectory, { strict: false });
    offer('old');
  });
  afterAll(() => closeAll(app, nats));

  it('knows the targets of all perks and every edit, however large the catalogue is', async () => {
    const catalogue = await fakeCatalogue(nats.url, offers, LARGEST);
    const targets = await Promise.all(ids.map((id) => perks.findTarget(id)));
    expect(targets).toEqual(ids.map((id) => offers.get(id)));

    const some = ids.slice(0, 20);
    const found = await Promise.all(some.map((id) => perks.find(id)));
    for (const perk of found) expect(perk).toMatchObject(LARGEST);

    offer('new');
    await waitFor(() => ids.every((id) => perks.peekTarget(id) === offers.get(id)), 'every edit', 20_000);
    expect(app.logs.join('')).not.toContain('owner');
    await catalogue.close();
  });

  it('serves cached perks while the owner fails, and does not report it as unavailable', async () => {
    const failing = await respond(nats.url, RESOLVE_OFFERS, () => {
      throw new Error('INTERNAL_ERROR');
    });
    await waitFor(() => app.logs.some((line) => line.includes('owner responds with an error')), 'a log line');
    expect(await perks.findTarget('perk-1')).toBe(offers.get('perk-1'));
    await expect(perks.findTarget('unseen')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    await expect(perks.requireAll('incentives', ['perk-1'])).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
    });
    expect(app.logs.join('')).toContain('its owner responded with INTERNAL_ERROR');
    await failing.close();
  });

  it('names the unknown perks', async () => {
    const catalogue = await fakeCatalogue(nats.url, offers);
    await perks.requireAll('incentives', ids);
    await expect(perks.requireAll('incentives', ['perk-1', 'gone', '__proto__'])).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      fields: [
        {
          field: 'incentives',
          message: 'must be existing perks; unknown: gone, __proto__',
        },
      ],
    });
    await catalogue.close();
  });
});
