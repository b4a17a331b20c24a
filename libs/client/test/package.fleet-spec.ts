import { FLEET, type DatabaseApp } from '@perkway/fleet';
import { freePort, run } from '@perkway/local-servers';
import {
  AppProcess,
  BundledApp,
  closeAll,
  COMPILER,
  http,
  runFolder,
  runNode,
  testDatabase,
  testEnvironment,
  testNats,
  testSecrets,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { HEADERS, OPERATIONS, parseOperation } from '../src/operations';

const ROOT = join(__dirname, '../../..');
const APPS = {
  perks: 'perks',
  boost: 'boost',
  gift: 'gift-cards',
  token: 'token-issuer',
  analytics: 'analytics-query',
  events: 'events',
};

interface Documented {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, unknown> };
}

const documents = () =>
  Object.entries(APPS).map(([host, app]) => ({
    host: host as keyof typeof OPERATIONS,
    paths: (jest.requireActual(join(ROOT, `dist/openapi/${app}.json`)) as { paths: object }).paths,
  }));
const runIn = (cwd: string, command: string, ...args: string[]) =>
  run(command, args, { cwd, env: { ...process.env, NX_DAEMON: 'false' }, timeoutMs: 220_000 });

// Because dist may be older than the sources.
beforeAll(async () => {
  await runIn(ROOT, 'npx', 'nx', 'run-many', '-t', 'types', '-p', 'client,console');
}, 240_000);

describe('the operations of the client', () => {
  it('match the OpenAPI documents, including where each member goes', () => {
    const known = new Set<string>(Object.values(HEADERS));
    for (const { host, paths } of documents()) {
      const documented: Record<string, object> = {};
      for (const [path, methods] of Object.entries(paths as Record<string, Record<string, Documented>>))
        for (const [method, { operationId, parameters = [], requestBody }] of Object.entries(methods)) {
          const named = (place: string) =>
            parameters.filter((each) => each.in === place).map(({ name }) => name);
          const hasBody = requestBody !== undefined;
          documented[operationId] = {
            method: method.toUpperCase(),
            path,
            inPath: named('path').sort(),
            // Members that also exist in the body are sent there.
            inQuery: hasBody
              ? named('query').filter(
                  (name) => !/^(?:utm_|cmeta_|api_key$)/.test(name) && name !== 'journeyId',
                )
              : [],
            isRaw: hasBody && !('application/json' in requestBody.content),
          };
          for (const header of named('header'))
            if (header !== 'If-None-Match') expect(known).toContain(header);
        }
      const ours = Object.entries(OPERATIONS[host]).map(([name, text]: [string, string]) => {
        const operation = parseOperation(text);
        return [name, { ...operation, inPath: [...operation.inPath].sort() }];
      });
      expect(Object.fromEntries(ours)).toEqual(documented);
    }
  });
});

describe('the pages of the console', () => {
  /**
   * Returns the compiler's output for the console with modified API types. `npm run typecheck` checks the real types.
   */
  const check = async (changes: Record<string, (types: string) => string>) => {
    const folder = runFolder('console-types');
    cpSync(join(ROOT, 'dist/client-types'), folder, { recursive: true });
    for (const [name, change] of Object.entries(changes)) {
      const file = join(folder, `${name}.d.ts`);
      writeFileSync(file, change(readFileSync(file, 'utf8')));
    }
    const web = join(ROOT, 'apps/console/web');
    const config = join(folder, 'tsconfig.json');
    const { compilerOptions } = jest.requireActual<{
      compilerOptions: { paths: Record<string, string[]> };
    }>(join(web, 'tsconfig.json'));
    const paths = Object.entries(compilerOptions.paths).map(([name, places]) => [
      name,
      name === '@perkway/client/documents'
        ? [join(folder, 'index.d.ts')]
        : places.map((place) => join(web, place)),
    ]);
    writeFileSync(
      config,
      JSON.stringify({
        extends: join(web, 'tsconfig.json'),
        compilerOptions: {
          paths: Object.fromEntries(paths),
          typeRoots: [join(ROOT, 'node_modules/@types')],
          types: ['node', join(ROOT, 'node_modules/vite/client')],
        },
        include: [join(web, 'src'), join(ROOT, 'libs/client/consumer/typed.ts')],
      }),
    );
    return runNode([COMPILER, '-p', config]);
  };

  it('do not compile if a response that they show or a body that they send has changed', async () => {
    const { output } = await check({
      perks: (types) => types.replaceAll(/^( +)callout: string;/gm, '$1call: string;'),
      boost: (types) => types.replace(/^ {4}getCampaign: \{/m, '    getCampaignNoMore: {'),
    });
    expect(output).toMatch(/screens\/perks\.tsx.*'callout'/);
    expect(output).toMatch(/screens\/perk-editor\.tsx/);
    expect(output).toMatch(/api\/types\.ts.*'getCampaign'/);
    // No other screen fails.
    expect(output).not.toContain('screens/audit-log.tsx');
  });

  it('do not compile with the loose placeholder types', async () => {
    const loose = readFileSync(join(ROOT, 'libs/client/src/documents.d.ts'), 'utf8');
    const { output } = await check({ index: () => loose });
    expect(output).toContain('`npm run client:types` has not been run');
  });
});

describe('the package of the client', () => {
  const apps: DatabaseApp[] = ['token-issuer', 'gift-cards'];
  const urls: Partial<Record<DatabaseApp, string>> = {};
  const processes: AppProcess[] = [];
  let database: TestDatabase;
  let nats: TestNats;

  beforeAll(async () => {
    [database, nats] = await Promise.all([
      testDatabase('token-issuer', async () => undefined, { template: 'nothing' }),
      testNats(),
    ]);
    for (const app of apps) urls[app] = `http://127.0.0.1:${await freePort()}`;
    for (const app of apps) {
      const bundle = await BundledApp.build(app);
      const environment = {
        ...testEnvironment(app, { database, nats, urls }),
        [FLEET[app].urlVariable]: urls[app]!,
      };
      const migrated = await runNode([bundle.path('migrate')], { env: environment });
      if (migrated.exitCode !== 0) throw new Error(migrated.output);
      processes.push(
        await AppProcess.spawn(bundle.path('main'), environment, Number(new URL(urls[app]!).port)),
      );
    }
    for (const process of processes) await process.ready();
  }, 240_000);
  afterAll(() =>
    closeAll(...processes.map((process) => ({ close: () => process.kill('SIGTERM') })), database, nats),
  );

  it('cannot be packed from the sources', async () => {
    const packed = runIn(join(__dirname, '..'), 'npm', 'pack', '--dry-run');
    await expect(packed).rejects.toThrow('npm run client:pack');
  });

  it('compiles under strict in an empty folder, and works against the apps', async () => {
    const folder = runFolder('client-consumer');
    const built = join(folder, 'built');
    await runIn(ROOT, process.execPath, 'libs/client/build/make-package.mjs', built);
    await runIn(folder, 'npm', 'pack', built, '--pack-destination', folder);
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
    // Laid out like an installation, without using a registry.
    const modules = join(folder, 'node_modules');
    mkdirSync(join(modules, '@perkway/client'), { recursive: true });
    await runIn(
      folder,
      'tar',
      '-xzf',
      tarball,
      '-C',
      join(modules, '@perkway/client'),
      '--strip-components=1',
    );
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types'])
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    copyFileSync(join(__dirname, '../consumer/consumer.ts'), join(folder, 'consumer.ts'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      target: 'ES2022',
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      types: ['node'],
      lib: ['ES2023', 'DOM', 'DOM.Iterable'],
      outDir: 'out',
      skipLibCheck: true,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    const compiled = await runNode([join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      cwd: folder,
    });
    expect(compiled).toEqual({ exitCode: 0, output: '' });

    const admin = { key: testSecrets().adminKey };
    const account = 'integrator';
    const poolId = randomUUID();
    await http({ url: urls['token-issuer']! }, admin)
      .put(`/admin/accounts/${account}`)
      .send({ name: account })
      .expect(200);
    const { body: key } = await http({ url: urls['token-issuer']! }, admin)
      .post(`/admin/accounts/${account}/keys`)
      .send({ role: 'USER' })
      .expect(201);
    await http({ url: urls['gift-cards']! }, admin)
      .put(`/admin/pools/${poolId}`)
      .send({ owner: account })
      .expect(200);
    await http({ url: urls['gift-cards']! }, admin)
      .post(`/admin/pools/${poolId}/cards`)
      .set('content-type', 'application/x-ndjson')
      .send(JSON.stringify({ code: randomUUID(), denomination: 25, currency: 'EUR', country: 'FR' }))
      .expect(200);
    const ran = await runNode([join(folder, 'out/consumer.js')], {
      cwd: folder,
      env: {
        PERKWAY_API_KEY: key.key,
        GIFT_URL: urls['gift-cards']!,
        TOKEN_URL: urls['token-issuer']!,
        POOL_ID: poolId,
      },
    });
    expect(ran.output).toMatch(/^\{/);
    expect(JSON.parse(ran.output)).toEqual({
      available: 1,
      address: expect.stringMatching(/^https:\/\/rewards\.perkway\.test\/#/),
      creators: ['Łukasz 100%'],
      status: 200,
      hasRequestId: true,
      reserved: 1,
      next_cursor: null,
      refusal: 'NO_AVAILABLE_CARDS 409',
      isToken: true,
    });
  });
});
