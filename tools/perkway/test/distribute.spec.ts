import { runNode, testDatabase, type TestDatabase } from '@perkway/testing';

/** On a plain Postgres. On Citus, the tests of analytics-query run on a distributed store, see tools/citus. */
describe('perkway distribute', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase('analytics-query', async () => undefined, { template: 'empty' });
  });
  afterAll(() => database?.close());

  const distribute = (env: Record<string, string>) =>
    runNode(['--import', 'tsx', 'tools/perkway/src/distribute.ts'], { env });

  it('explains that a plain Postgres needs no distribution, and changes nothing', async () => {
    expect(await distribute({ DATABASE_ADMIN_URL: database.urls.admin })).toEqual({
      exitCode: 1,
      output: 'This database does not have the citus extension. A plain Postgres needs no distribution.\n',
    });
    const [role] = await database.query<{ settings: string[] }>(
      `select rolconfig as settings from pg_roles where rolname = 'analytics_reader'`,
    );
    expect(role!.settings.filter((setting) => setting.startsWith('citus'))).toEqual([]);
  });

  it('names the missing variable', async () => {
    expect(await distribute({})).toEqual({ exitCode: 1, output: 'DATABASE_ADMIN_URL is missing.\n' });
  });
});
