import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import {
  DatabaseModule,
  databaseEnv,
  loadEnv,
  platformEnv,
  runMigrations,
  type MigrationClass,
} from '@perkway/platform';
import { IsString } from 'class-validator';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import {
  closeAll,
  http,
  launchApp,
  testDatabase,
  waitFor,
  type LaunchedApp,
  type TestDatabase,
} from '../src';

class CreateNotes1767225600000 implements MigrationInterface {
  name = 'CreateNotes1767225600000';
  async up(runner: QueryRunner) {
    await runner.query('create table notes (text text primary key)');
    // Long enough that concurrent runs overlap.
    await runner.query('select pg_sleep(0.3)');
  }
  async down(runner: QueryRunner) {
    await runner.query('drop table notes');
  }
}
class BreakNotes1767225700000 implements MigrationInterface {
  name = 'BreakNotes1767225700000';
  async up(runner: QueryRunner) {
    await runner.query('create table half_done (id integer)');
    await runner.query('select nonsense');
  }
  async down() {}
}
const migrations: MigrationClass[] = [CreateNotes1767225600000];

/** Each makes a request to `/busy` release its connection. */
const releases: (() => void)[] = [];

class NoteDto {
  @IsString()
  text: string;
}

@Controller()
class NotesController {
  constructor(private readonly dataSource: DataSource) {}

  @Post('notes')
  async add(@Body() { text }: NoteDto) {
    await this.dataSource.query('insert into notes (text) values ($1)', [text]);
    return { text };
  }

  @Get('slow')
  async slow() {
    await this.dataSource.query('select pg_sleep(30)');
    return {};
  }

  @Get('busy')
  async busy() {
    const runner = this.dataSource.createQueryRunner();
    await runner.connect();
    await new Promise<void>((resolve) => releases.push(resolve));
    await runner.release();
    return {};
  }

  @Get('wrong')
  async wrong() {
    return this.dataSource.query('select nonsense');
  }
}

describe('an app with a database', () => {
  let database: TestDatabase;
  let app: LaunchedApp;

  beforeAll(async () => {
    database = await testDatabase('perks', (url) => runMigrations(url, 'perks', migrations), {
      template: 'platform-database',
    });
    const env = loadEnv(
      { ...platformEnv, ...databaseEnv },
      { PORT: '1', NATS_URL: 'nats://127.0.0.1:1', DATABASE_URL: database.url, DATABASE_POOL_SIZE: '2' },
    );
    @Module({ imports: [DatabaseModule], controllers: [NotesController] })
    class NotesModule {}
    app = await launchApp({ name: 'perks', module: NotesModule, env });
  });
  afterAll(() => closeAll(app, database));

  const add = (text: string) => http(app).post('/notes').send({ text });
  const get = (path: string) => http(app).get(path);

  it('works in its own schema', async () => {
    expect((await add('a note')).status).toBe(201);
    expect(await database.query('select text from catalog.notes')).toEqual([{ text: 'a note' }]);
    expect((await get('/readyz')).status).toBe(200);
  });

  it('responds 400 to a string that Postgres cannot store', async () => {
    const response = await add('with NUL \0');
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('responds 500 to a constraint violation or invalid statement, and reveals no values in the response or the log', async () => {
    await add('a5ecret-value');
    const again = await add('a5ecret-value');
    expect(again.status).toBe(500);
    expect(again.text).not.toContain('a5ecret');
    expect(await get('/wrong')).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } });
    expect(app.logs.join('')).toContain('duplicate key value');
    expect(app.logs.join('')).not.toContain('a5ecret');
  });

  it('cancels a statement after 5 s and responds 503', async () => {
    const startedAt = Date.now();
    const { status, headers, body } = await get('/slow');
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('2');
    expect(body).toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    expect(Date.now() - startedAt).toBeLessThan(20_000);
  });

  it('responds 503 while the server is read-only, and drops such connections', async () => {
    const [{ name }] = (await database.query('select current_database() as name')) as [{ name: string }];
    const set = `alter role catalog in database ${name}`;
    const closeAllConnections = () =>
      database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = 'catalog'`,
        [name],
      );
    await database.query(`${set} set default_transaction_read_only = on`);
    await closeAllConnections();
    await waitFor(async () => {
      const { status, headers } = await add('to a standby');
      expect([status, headers['retry-after']]).toEqual([503, '2']);
      expect(app.logs.join('')).toContain('read-only transaction');
    }, 'a connection to a standby');
    await database.query(`${set} reset default_transaction_read_only`);
    expect((await add('to the primary')).status).toBe(201);
  });

  it('responds 503 within seconds when all connections are busy', async () => {
    const busy = Promise.all([get('/busy'), get('/busy')]);
    try {
      await waitFor(() => releases.length === 2, 'two busy connections');
      // The connections stay busy until it has responded.
      expect((await add('one too many')).status).toBe(503);
    } finally {
      for (const release of releases.splice(0)) release();
    }
    expect((await busy).map(({ status }) => status)).toEqual([200, 200]);
    expect((await add('one more')).status).toBe(201);
  });
});

describe('runMigrations', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await testDatabase('links', async () => undefined, { template: 'platform-empty' });
  });
  afterEach(() => database.close());

  it('runs each migration once, even in concurrent runs', async () => {
    const runs = await Promise.all(
      Array.from({ length: 3 }, () => runMigrations(database.url, 'links', migrations)),
    );
    expect(runs.map(({ length }) => length).sort()).toEqual([0, 0, 1]);
    expect(await runMigrations(database.url, 'links', migrations)).toEqual([]);
    expect(await database.query('select count(*)::int as count from notes')).toEqual([{ count: 0 }]);
  });

  it('rolls back a failed migration and keeps those before it', async () => {
    const broken = [...migrations, BreakNotes1767225700000];
    await expect(runMigrations(database.url, 'links', broken)).rejects.toThrow('nonsense');
    expect(
      await database.query(`select to_regclass('notes')::text as notes, to_regclass('half_done') as half`),
    ).toEqual([{ notes: 'notes', half: null }]);
    expect(await runMigrations(database.url, 'links', migrations)).toEqual([]);
  });
});
