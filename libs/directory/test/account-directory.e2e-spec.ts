import { loadEnv, platformEnv } from '@perkway/platform';
import {
  closeAll,
  fakeAccounts,
  launchApp,
  testNats,
  waitFor,
  type FakeAccounts,
  type LaunchedApp,
  type TestNats,
} from '@perkway/testing';
import { AccountDirectory, AccountDirectoryModule } from '../src';

describe('the account directory', () => {
  let nats: TestNats;
  let owner: FakeAccounts;
  let app: LaunchedApp;
  let accounts: AccountDirectory;

  beforeAll(async () => {
    nats = await testNats();
    owner = await fakeAccounts(nats.url);
    app = await launchApp({
      name: 'gift-cards',
      module: AccountDirectoryModule,
      env: loadEnv(platformEnv, { PORT: '1', NATS_URL: nats.url }),
    });
    accounts = app.app.get(AccountDirectory, { strict: false });
  });
  afterAll(() => closeAll(app, owner, nats));

  it('names an unknown account, and finds a new one at once', async () => {
    await expect(accounts.require('owner', 'new')).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      fields: [{ field: 'owner', message: 'must be an existing account; unknown: new' }],
    });
    owner.setAccount('new', {});
    await expect(accounts.require('owner', 'new')).resolves.toBeUndefined();
  });

  it('loads brands and web sites, however large they are together', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `account-${index}`);
    const brandOf = (id: string) => ({ name: id, color: null, logo: 'x'.repeat(64 * 1024) });
    const originsOf = (id: string) =>
      Array.from({ length: 100 }, (_, index) => `https://${index}.${id}.${'a'.repeat(200)}.example`);
    for (const id of ids) owner.setAccount(id, { brand: brandOf(id), allowedOrigins: originsOf(id) });
    owner.setAccount('plain', {});
    // Each call waits only briefly, so brands may arrive after several tries.
    const brands = () => Promise.all(ids.map((id) => accounts.brand(id)));
    await waitFor(async () => !(await brands()).includes(null), 'all brands', 50_000);
    expect(await brands()).toEqual(ids.map(brandOf));
    expect(await Promise.all(ids.map((id) => accounts.allowedOrigins(id)))).toEqual(ids.map(originsOf));
    for (const id of ['plain', 'unknown']) {
      expect(await accounts.brand(id)).toBeNull();
      expect(await accounts.allowedOrigins(id)).toEqual([]);
    }
  });

  it('returns no brand instead of an error while the owner is unavailable', async () => {
    await owner.close();
    expect(await accounts.brand('never-seen')).toBeNull();
    expect(await accounts.brand('account-1')).toMatchObject({ name: 'account-1' });
    await expect(accounts.allowedOrigins('never-seen')).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
  });
});
