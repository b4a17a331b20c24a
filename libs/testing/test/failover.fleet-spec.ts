import { Body, Controller, Module, Post } from '@nestjs/common';
import { databaseUrls } from '@perkway/fleet';
import { PostgresPair, provisionDatabase } from '@perkway/local-servers';
import { DatabaseModule, databaseEnv, loadEnv, platformEnv } from '@perkway/platform';
import { IsString } from 'class-validator';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { closeAll, http, launchApp, runFolder, waitFor, type LaunchedApp } from '../src';

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
}

const given = { database: 'perkway', passwordOf: () => 'password' };

describe('an app whose Postgres fails over to a synchronous standby', () => {
  let pair: PostgresPair;
  let app: LaunchedApp;

  beforeEach(async () => {
    pair = await PostgresPair.start({ folder: runFolder('pair'), durable: false, dieWithParent: true });
    const urls = await provisionDatabase(pair.primary.url, given);
    await query(urls.apps.perks, 'create table notes (text text primary key)');
    const env = loadEnv(
      { ...platformEnv, ...databaseEnv },
      {
        PORT: '1',
        NATS_URL: 'nats://127.0.0.1:1',
        DATABASE_URL: databaseUrls(pair.url, given).apps.perks,
      },
    );
    @Module({ imports: [DatabaseModule], controllers: [NotesController] })
    class NotesModule {}
    app = await launchApp({ name: 'perks', module: NotesModule, env });
  });
  afterEach(() => closeAll(app, pair));

  async function query(url: string, sql: string): Promise<{ text: string }[]> {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }
  const stored = async (url: string) =>
    (await query(databaseUrls(url, given).apps.perks, 'select text from notes')).map(({ text }) => text);

  it.each<[string, () => Promise<void>]>([
    [
      'dies',
      async () => {
        await pair.primary.kill();
        await pair.failOver();
      },
    ],
    [
      'is only unreachable, and comes back',
      async () => {
        const old = pair.primary;
        old.pause();
        await pair.failOver();
        old.resume();
      },
    ],
  ])(
    'keeps acknowledged writes, responds 503 meanwhile, and recovers when the primary %s',
    async (_, failOver) => {
      const acknowledged: string[] = [];
      const statuses = new Set<number>();
      let isGoing = true;
      const writer = async (name: string) => {
        for (let number = 0; isGoing; number += 1) {
          const text = `${name}-${number}`;
          const { status, headers } = await http(app).post('/notes').send({ text });
          statuses.add(status);
          if (status === 201) acknowledged.push(text);
          else expect(headers['retry-after']).toBe('2');
        }
      };
      const writers = Promise.all(['a', 'b', 'c'].map(writer));
      const more = (count: number) => {
        const from = acknowledged.length;
        return waitFor(() => acknowledged.length >= from + count, `${count} more acknowledged writes`);
      };
      await more(50);
      await failOver();
      await more(50);
      await pair.rejoin();
      await more(50);
      isGoing = false;
      await writers;
      expect([...statuses].sort()).toEqual([201, 503]);
      expect(await stored(pair.url)).toEqual(expect.arrayContaining(acknowledged));
      // A commit waits until the standby has the write, not until it shows it.
      await waitFor(
        async () => expect(await stored(pair.standby.url)).toEqual(expect.arrayContaining(acknowledged)),
        'the writes on the standby',
      );
    },
  );
});
