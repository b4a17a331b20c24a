import { runNode, testDatabase, type TestDatabase } from '@perkway/testing';

/** On a plain Postgres; on Citus the tests of analytics-query run over what this makes, see tools/citus. */
describe('perkway distribute', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase('analytics-query', async () => undefined, { template: 'empty' });
  });
  afterAll(() => database?.close());

  const distribute = (env: Record<string, string>) =>
    runNode(['--import', 'tsx', 'tools/perkway/src/distribute.ts'], { env });

  it('says plainly that a plain Postgres has nothing to distribute over, and changes nothing', async () => {
    expect(await distribute({ DATABASE_ADMIN_URL: database.urls.admin })).toEqual({
      exitCode: 1,
      output:
        'This database has no extension citus: nothing to distribute over. A plain Postgres stays as it is.\n',
    });
    const [role] = await database.query<{ settings: string[] }>(
      `select rolconfig as settings from pg_roles where rolname = 'analytics_reader'`,
    );
    expect(role!.settings.filter((setting) => setting.startsWith('citus'))).toEqual([]);
  });

  it('says what it lacks', async () => {
    expect(await distribute({})).toEqual({ exitCode: 1, output: 'DATABASE_ADMIN_URL is missing.\n' });
  });
});
