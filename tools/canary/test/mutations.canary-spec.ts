import {
  AppProcess,
  BundledApp,
  closeAll,
  http,
  runNode,
  testDatabase,
  testEnvironment,
  testNats,
  testSecrets,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { search, type Canary, type Found } from '../src/search.js';
import { canaryText } from './stack.js';

/** Redactions to remove from the built app, and where a canary appears without each. */
const REDACTIONS: [what: string, written: RegExp, instead: string, place: string][] = [
  ['secrets in log lines', /hooks: \{ streamWrite: redact \}/, 'hooks: {}', 'log'],
  ['driver details in errors', /serializers: \{ err: serializeError \}/, 'serializers: {}', 'log'],
  ['request URLs', /const routeOf = \(request\) => .*;/, 'const routeOf = (request) => request.url;', 'log'],
  [
    'the cause of a fault in the response',
    /new ApiError\("INTERNAL_ERROR", ERROR_CODES\.INTERNAL_ERROR\.title\)/,
    'new ApiError("INTERNAL_ERROR", String(error?.message))',
    'response 500',
  ],
];

describe('a built app without one of its redactions', () => {
  let nats: TestNats;
  let database: TestDatabase;
  let built: BundledApp;
  let environment: Record<string, string>;

  beforeAll(async () => {
    [nats, database, built] = await Promise.all([
      testNats(),
      testDatabase('token-issuer', () => Promise.resolve(), { template: 'token-issuer-empty' }),
      BundledApp.build('token-issuer'),
    ]);
    environment = { ...testEnvironment('token-issuer', { nats, database }), LOG_LEVEL: 'debug' };
    const { exitCode, output } = await runNode([built.path('migrate')], { env: environment });
    if (exitCode !== 0) throw new Error(output);
    // A database whose errors repeat the values of the row.
    await database.query(`
      create function refuse() returns trigger language plpgsql as $$
      begin
        raise exception using message = 'invalid input syntax for type uuid: "' || new.name || '"',
          detail = 'Key (name)=(' || new.name || ') is not one.';
      end $$`);
    await database.query(`
      create trigger refuse before insert on api_keys for each row when (new.name like 'canary%')
        execute function refuse()`);
  });
  afterAll(() => closeAll(database, nats));

  /** Returns the bundle, or a copy of it in which `written` is replaced. */
  function mainOf(written?: RegExp, instead = ''): string {
    const main = built.path('main');
    if (!written) return main;
    const copy = join(dirname(main), '..', canaryText('copy'));
    cpSync(dirname(main), copy, { recursive: true });
    const changed = readdirSync(copy).filter((name) => {
      const text = readFileSync(join(copy, name), 'utf8');
      if (!name.endsWith('.js') || !written.test(text)) return false;
      writeFileSync(
        join(copy, name),
        text.replace(written, () => instead),
      );
      return true;
    });
    // If the code has changed, the redaction would not be removed.
    expect(changed).toHaveLength(1);
    return join(copy, 'main.js');
  }

  async function leaksOf(main: string): Promise<string[]> {
    const app = await AppProcess.spawn(main, environment);
    try {
      await app.ready();
      const canaries: Canary[] = [];
      const plant = (kind: string): string => {
        const text = canaryText(kind);
        canaries.push({ kind, text });
        return text;
      };
      const responses: Found[] = [];
      const call = async (method: 'get' | 'post', path: string, body?: object) => {
        const { status, text } = await http(app, { key: testSecrets().adminKey })[method](path).send(body);
        responses.push({ place: `response ${status}`, text });
      };
      await call('get', `/${plant('address')}`);
      await call('post', '/admin/accounts/platform/keys', { role: 'USER', name: plant('name') });
      expect(responses.map(({ place }) => place)).toEqual(['response 404', 'response 500']);
      await app.until(() => app.output.includes('request failed'), 'its log');
      return search([...responses, { place: 'log', text: app.output }], canaries, []);
    } finally {
      await app.kill('SIGTERM');
    }
  }

  it('leaks nothing with all redactions', async () => {
    expect(await leaksOf(mainOf())).toEqual([]);
  });

  it.each(REDACTIONS)('leaks without the redaction of %s', async (_, written, instead, place) => {
    const leaks = await leaksOf(mainOf(written, instead));
    expect(leaks).not.toEqual([]);
    for (const leak of leaks) expect(leak).toContain(` in ${place},`);
  });
});
