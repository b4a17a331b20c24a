import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { TRACKING_STREAM, TRACKING_SUBJECTS } from '@perkway/domain';
import { freePorts, isAlive, isPortFree, startNats, startPostgres } from '@perkway/local-servers';
import { NodeProcess } from '@perkway/testing';
import pg from 'pg';
import type { StackFile } from '@perkway/fleet';

/**
 * Runs `npm start` as a process with real servers, in a copy of the workspace with minimal apps, which only store a row
 * per management call. That is enough, because the supervisor does not depend on what apps do.
 */
const REPOSITORY = resolve(__dirname, '../../..');
const APPS = ['perks', 'token-issuer'];
const READY_WITHIN_MS = 180_000;

const MAIN = `
import { createServer } from 'node:http';
import pg from 'pg';
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 1000 });
pool.on('error', () => {});
const server = createServer(async (request, response) => {
  request.resume();
  try {
    if (request.method !== 'GET') await pool.query('insert into calls values ($1)', [request.url]);
    const { rows } = await pool.query('select count(*)::int as calls from calls');
    response.end(JSON.stringify({ ...rows[0], nats: process.env.NATS_URL }));
  } catch {
    response.writeHead(503).end('{}');
  }
});
server.listen(Number(process.env.PORT), process.env.HOST);
process.on('SIGTERM', () => {
  process.stdout.write('drained\\n');
  process.exit(0);
});
`;
const MIGRATE = `
import pg from 'pg';
const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
await client.query('create table if not exists calls (url text)');
await client.end();
`;

let workspace: string;
let base: number;
const running = new Set<NodeProcess>();

beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'perkway-workspace-'));
  for (const part of [
    ...[
      'libs/catalogue/src',
      'libs/command-line/src',
      'libs/domain/src',
      'libs/fleet/src',
      'libs/local-servers/src',
      'tools/local-stack/src',
      'examples/demo',
    ],
    ...['package.json', 'package-lock.json', 'tsconfig.base.json', 'tsconfig.json'],
  ])
    cpSync(join(REPOSITORY, part), join(workspace, part), { recursive: true });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(workspace, 'node_modules'));
  writeFileSync(
    join(workspace, 'rolldown.config.mjs'),
    `export const appConfig = (app) => ({
       input: { main: \`apps/\${app}/src/main.ts\`, migrate: \`apps/\${app}/src/migrate.ts\` },
       platform: 'node', external: (id) => !/^[./]/.test(id), logLevel: 'silent',
       output: { dir: \`dist/\${app}\`, format: 'esm', entryFileNames: '[name].js' },
     });`,
  );
  for (const app of APPS) writeApp(app, MAIN);
});
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

beforeEach(async () => {
  base = await freeBase();
});
afterEach(async () => {
  for (const run of running) await run.kill('SIGTERM');
  running.clear();
});

function writeApp(app: string, main: string) {
  const folder = join(workspace, 'apps', app, 'src');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.ts'), main);
  writeFileSync(join(folder, 'migrate.ts'), MIGRATE);
}

const PORTS = 9;
const freeBase = async () => (await freePorts(PORTS)) - 1;
const areFree = () => Promise.all(Array.from({ length: PORTS }, (_, index) => isPortFree(base + 1 + index)));
const dataDir = () => join(workspace, `data-${base}`);
const stackFile = () => join(workspace, `stack-${base}.json`);
const readStack = () => JSON.parse(readFileSync(stackFile(), 'utf8')) as StackFile;
const fromApp = async (host: 'perks' | 'token') =>
  (await (await fetch(readStack().hosts[host]!)).json()) as { calls: number; nats: string };

function start(env: Record<string, string> = {}, args: string[] = []): NodeProcess {
  const run = new NodeProcess(['--import', 'tsx', 'tools/local-stack/src/main.ts', ...args], {
    cwd: workspace,
    env: { ...process.env, PORT_BASE: String(base), DATA_DIR: dataDir(), STACK_FILE: stackFile(), ...env },
  });
  running.add(run);
  return run;
}
async function startAndWait(env: Record<string, string> = {}, args: string[] = []): Promise<NodeProcess> {
  const run = start(env, args);
  await run.until(
    () => existsSync(stackFile()) && run.output.includes('Ready after'),
    'readiness',
    READY_WITHIN_MS,
  );
  return run;
}
async function refusal(run: NodeProcess): Promise<string> {
  expect(await run.ended).toBe(1);
  return run.output;
}

jest.setTimeout(600_000);

it('starts, restarts processes that die, starts again after it was killed, and leaves nothing running', async () => {
  let run = await startAndWait();
  let stack = readStack();
  expect(stack).toMatchObject({
    hosts: { perks: `http://127.0.0.1:${base + 1}`, token: `http://127.0.0.1:${base + 6}` },
    natsUrl: expect.stringMatching(new RegExp(`^nats://operator:[^@]+@127.0.0.1:${base + 9}$`)),
    dataDir: dataDir(),
    logDir: join(dataDir(), 'logs'),
  });
  expect(Object.keys(stack.hosts)).toEqual(['perks', 'token']);
  expect(Object.keys(stack.pids).sort()).toEqual(['nats', 'perks', 'postgres', 'token-issuer']);
  expect(statSync(stackFile()).mode & 0o777).toBe(0o600);
  expect(stack.accounts.length).toBeGreaterThan(0);
  for (const { userKey } of stack.accounts) expect(run.output).toContain(userKey);
  for (const address of Object.values(stack.hosts)) expect(run.output).toContain(address);
  const { calls, nats: natsOfApp } = await fromApp('perks');
  expect(calls).toBeGreaterThan(50);
  expect(natsOfApp).toMatch(/^nats:\/\/perks:/);

  const client = new pg.Client(stack.databaseUrl);
  await client.connect();
  expect((await client.query('select count(*)::int as calls from catalog.calls')).rows).toEqual([{ calls }]);
  await client.end();

  expect(await refusal(start())).toMatch(/A stack is already running on .* \(pid \d+\)\. Stop it/);
  expect(readStack()).toEqual(stack);

  for (const name of ['perks', 'nats', 'postgres']) {
    process.kill(stack.pids[name]!, 'SIGKILL');
    await run.until(
      () => readStack().pids[name] !== stack.pids[name] && isAlive(readStack().pids[name]!),
      `a new ${name}`,
    );
  }
  stack = readStack();
  await run.until(async () => (await fetch(stack.hosts.perks!)).ok, 'perks');
  expect(await fromApp('perks')).toMatchObject({ calls });
  await run.until(async () => !(await isPortFree(base + 9)), 'nats');

  await run.kill('SIGKILL');
  const orphans = Object.values(stack.pids);
  expect(orphans.filter(isAlive)).toHaveLength(4);

  run = await startAndWait();
  expect(run.output).toContain('Stopped processes that a killed supervisor had left running:');
  expect(orphans.filter(isAlive)).toEqual([]);
  // The data is kept and nothing is applied twice.
  expect(await fromApp('perks')).toMatchObject({ calls });
  expect(readStack().adminKey).toBe(stack.adminKey);
  stack = readStack();

  // A terminal and npm send two signals for one keystroke, which must not cut the drain short.
  void run.kill('SIGINT');
  expect(await run.kill('SIGINT')).toBe(0);
  expect(Object.values(stack.pids).filter(isAlive)).toEqual([]);
  expect(await areFree()).toEqual(Array(PORTS).fill(true));
  expect(existsSync(stackFile())).toBe(false);
  expect(readFileSync(join(stack.logDir, 'perks.log'), 'utf8')).toContain('drained');

  await startAndWait({}, ['--fresh']);
  expect(readStack().adminKey).not.toBe(stack.adminKey);
  expect(await fromApp('perks')).toMatchObject({ calls });
});

it('uses external servers and leaves them running', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perkway-external-'));
  const postgres = await startPostgres({
    port: 0,
    dataDir: join(folder, 'postgres'),
    superuserPassword: 'secret',
    durable: false,
    logFile: join(folder, 'postgres.log'),
    dieWithParent: true,
  });
  const nats = await startNats({
    port: 0,
    storeDir: join(folder, 'nats'),
    logFile: join(folder, 'nats.log'),
    dieWithParent: true,
  });
  try {
    // One reachable server of several is enough.
    const natsUrl = `nats://127.0.0.1:9,${nats.url}`;
    const servers = { DATABASE_URL: postgres.url, NATS_URL: natsUrl };
    let run = await startAndWait(servers);
    const stack = readStack();
    expect(Object.keys(stack.pids).sort()).toEqual(['perks', 'token-issuer']);
    expect(stack.natsUrl).toBe(natsUrl);
    expect(new URL(stack.databaseUrl).pathname).toBe('/perkway');
    const { calls, nats: natsOfApp } = await fromApp('perks');
    expect(natsOfApp).toBe(natsUrl);
    expect(await run.kill('SIGTERM')).toBe(0);
    expect([postgres.running, nats.running]).toEqual([true, true]);

    const connection = await connect({ servers: nats.url });
    const { streams } = await jetstreamManager(connection);
    await streams.add({ name: TRACKING_STREAM, subjects: [TRACKING_SUBJECTS] });
    await streams.add({ name: 'OTHERS', subjects: ['others'] });
    run = await startAndWait(servers, ['--fresh']);
    expect((await fromApp('perks')).calls).toBe(calls);
    expect(await streams.names().next()).toEqual(['OTHERS']);
    await connection.close();
    expect(await run.kill('SIGHUP')).toBe(0);

    await postgres.stop();
    expect(await refusal(start(servers))).toMatch(
      /^Cannot use DATABASE_URL \(.*\)\. Give the URL of a superuser/m,
    );
    await nats.stop();
    expect(await refusal(start({ NATS_URL: nats.url }))).toMatch(
      /^Cannot use NATS_URL \(no NATS server responds\)/m,
    );
  } finally {
    await Promise.all([postgres.kill(), nats.kill()]);
    rmSync(folder, { recursive: true, force: true });
  }
});

it('runs beside a second stack started at the same time, each with its own stack file', async () => {
  const [first, second] = [base, await freeBase()];
  const unnamed = (port: number) => start({ PORT_BASE: String(port), STACK_FILE: '', DATA_DIR: '' });
  rmSync(join(workspace, 'dist'), { recursive: true, force: true });
  const runs = [unnamed(first), unnamed(second)];
  for (const run of runs)
    await run.until(() => run.output.includes('Ready after'), 'readiness', READY_WITHIN_MS);

  const files = readdirSync(join(workspace, '.local')).filter((name) => /^stack.*json$/.test(name));
  const taken = files.find((name) => name !== 'stack.json')!;
  expect(files.sort()).toEqual([taken, 'stack.json'].sort());
  const [one, other] = ['stack.json', taken].map(
    (name) => JSON.parse(readFileSync(join(workspace, '.local', name), 'utf8')) as StackFile,
  );
  expect([one!.dataDir, other!.dataDir].sort()).toEqual(
    [first, second].map((port) => join(workspace, '.local', `data-${port}`)).sort(),
  );
  expect(taken).toBe(`stack-${Number(new URL(other!.hosts.perks!).port) - 1}.json`);

  const said = await refusal(start({ PORT_BASE: String(await freeBase()), STACK_FILE: '.local/stack.json' }));
  expect(said).toMatch(
    /^The stack file .*stack\.json belongs to a running stack \(pid \d+\)\. Set STACK_FILE/,
  );
});

describe('reports the problem in one sentence and leaves nothing running:', () => {
  afterEach(async () => expect(await areFree()).toEqual(Array(PORTS).fill(true)));

  it('a busy port', async () => {
    const busy = createServer().listen(base + 9, '127.0.0.1');
    await once(busy, 'listening');
    const said = await refusal(start());
    busy.close();
    await once(busy, 'close');
    expect(said.trim()).toBe(
      `Port ${base + 9} (for nats) is in use. Free it, or set PORT_BASE (now ${base}) to move all ports.`,
    );
    expect(existsSync(join(dataDir(), 'postgres'))).toBe(false);
  });

  it('a nats-server that does not exist', async () => {
    const said = await refusal(start({ NATS_SERVER_BIN: '/nowhere' }));
    expect(said.trim()).toBe('NATS_SERVER_BIN (/nowhere) is not a nats-server that runs on this machine.');
  });

  it('a data folder that cannot be written', async () => {
    const said = await refusal(start({ DATA_DIR: '/dev/null/data' }));
    expect(said.trim()).toBe(
      'Cannot write to the data folder /dev/null/data (ENOTDIR). Set DATA_DIR to another path.',
    );
  });

  it('data without the secrets that belong to it', async () => {
    mkdirSync(join(dataDir(), 'postgres'), { recursive: true });
    expect(await refusal(start())).toContain('but the secrets.json for it is missing');
  });

  it('an app that does not become ready', async () => {
    writeApp('links', "process.stdout.write('I lack a thing\\n'); process.exitCode = 3;");
    try {
      expect(await refusal(start())).toMatch(
        /^links did not start; the end of its log:\n(.*\n)*I lack a thing$/m,
      );
    } finally {
      rmSync(join(workspace, 'apps', 'links'), { recursive: true });
    }
  });

  it('but treats an interrupted start as success', async () => {
    const run = start();
    await run.until(() => existsSync(join(dataDir(), 'logs', 'postgres.log')), 'Postgres');
    expect(await run.kill('SIGINT')).toBe(0);
    expect(existsSync(stackFile())).toBe(false);
  });
});
