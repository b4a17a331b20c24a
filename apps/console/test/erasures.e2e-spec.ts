import { COUNT_CODES_OF_CUSTOMER, ERASE, OPEN_CONSOLE_KEY } from '@perkway/domain';
import {
  anAccountId,
  anErasure,
  closeAll,
  respond,
  rpcCaller,
  stopClock,
  testNats,
  waitFor,
  type LaunchedApp,
  type RpcCaller,
  type RpcResponder,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { PersonsService } from '../src/erasures/persons.service.js';
import { ConsoleKeys } from '../src/sessions/console-keys.js';
import type { Session } from '../src/sessions/session.js';
import { consoleDatabase, launchConsole } from './launch';

const open: { close(): Promise<unknown> }[] = [];
let database: TestDatabase;
let operator: RpcCaller;
let console: LaunchedApp;
let giftCards: SlowHost;
let tokenIssuer: SlowHost;
let nats: TestNats;
beforeAll(async () => {
  nats = await testNats();
  open.push(nats);
  database = await consoleDatabase();
  open.push(database);
  giftCards = await slowHost();
  open.push(giftCards);
  tokenIssuer = await slowHost();
  open.push(tokenIssuer);
  const urls = { 'gift-cards': giftCards.url, 'token-issuer': tokenIssuer.url };
  console = await launchConsole({ database, nats, urls });
  open.push(console);
  operator = await rpcCaller(nats.url);
  open.push(operator);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => closeAll(...open.reverse()));

type SlowHost = Awaited<ReturnType<typeof slowHost>>;

/** Stands in for a host, and holds its responses until the test releases them. */
async function slowHost() {
  let release: (status: number) => void;
  let released: Promise<number>;
  const references: unknown[] = [];
  const server = createServer(async (request, response) => {
    references.push((JSON.parse((await text(request)) || '{}') as { reference?: string }).reference);
    response.writeHead(await released, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: randomUUID(), reward_link: 'x', code: 'API_KEY_INVALID' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The references in the requests. */
    references,
    hold() {
      references.length = 0;
      ({ promise: released, resolve: release } = withResolvers<number>());
    },
    /** Responds to the held requests with this status, and to later ones with 201. */
    release(status = 201) {
      release(status);
      released = Promise.resolve(201);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  return { promise: new Promise<T>((done) => (resolve = done)), resolve };
}

/** Requests that a batch sends concurrently. */
const CONCURRENT = 8;

/** Starts a job with one link more than a batch requests concurrently, the last one for `ann`. */
async function aHeldBatch(account = anAccountId()): Promise<string> {
  const id = randomUUID();
  giftCards.hold();
  await database.query(
    `with job as (
       insert into link_jobs (id, account_id, idempotency_key, request, request_digest, total, created_by, state,
           key_secret, keyring_id, console_key_id)
         values ($1, $2, gen_random_uuid(), $3, 'digest', ${CONCURRENT + 1}, 'ben', 'running',
           gen_random_uuid(), $4, gen_random_uuid())
     )
     insert into link_job_rows (job_id, row, reference)
       select $1, n, case n when ${CONCURRENT + 1} then 'ann' else 'ben' end from generate_series(1, ${CONCURRENT + 1}) n`,
    [
      id,
      account,
      { pool_id: randomUUID(), denomination: 25, currency: 'EUR', country: null, campaign_id: null },
      console.app.get(ConsoleKeys, { strict: false }).keyringId,
    ],
  );
  await waitFor(() => giftCards.references.length === CONCURRENT, 'the requests of the batch');
  return id;
}
const jobOf = async (id: string) => {
  const [job] = await database.query(
    `select state, leased_until > now() as is_leased,
       (select count(link_id)::integer from link_job_rows where job_id = id) as made from link_jobs where id = $1`,
    [id],
  );
  return job!;
};
const untilDone = (id: string) =>
  waitFor(async () => (await jobOf(id)).state === 'done', 'the job to be done', 10_000);

it('requests no link for an erased person after the lease of a slow batch has ended', async () => {
  const clock = stopClock();
  const account = anAccountId();
  const id = await aHeldBatch(account);
  clock.advance(60_000);
  await database.query('update link_jobs set leased_until = now() where id = $1', [id]);
  const { isDone } = await operator.rpc.request(ERASE.console, anErasure({ account }));
  giftCards.release();
  await untilDone(id);
  expect(isDone).toBe(true);
  expect(giftCards.references).toEqual([...Array<string>(CONCURRENT).fill('ben'), undefined]);
});

it('does not end the lease of another replica that has taken the job over', async () => {
  const id = await aHeldBatch();
  await database.query(
    `update link_jobs set turn_at = clock_timestamp(), leased_until = now() + interval '1 hour' where id = $1`,
    [id],
  );
  giftCards.release();
  await waitFor(async () => (await jobOf(id)).made === CONCURRENT + 1, 'the links');
  // The only replica runs a batch of another job after this one.
  const next = await aHeldBatch();
  giftCards.release();
  await untilDone(next);
  expect((await jobOf(id)).is_leased).toBe(true);
});

it('does not fail a resumed job because the key from before the stop is refused', async () => {
  const id = await aHeldBatch();
  await database.query('update link_jobs set console_key_id = gen_random_uuid() where id = $1', [id]);
  giftCards.release(401);
  await untilDone(id);
});

it('removes a reference from the jobs of its own account, and waits for a batch that may still hold it', async () => {
  const [account, other] = [anAccountId(), anAccountId()];
  const jobs = [randomUUID(), randomUUID()];
  for (const [index, of] of [account, other].entries()) {
    // A batch of each job is running.
    await database.query(
      `insert into link_jobs (id, account_id, idempotency_key, request, request_digest, total, created_by, state,
           key_secret, keyring_id, console_key_id, leased_until)
         values ($1, $2, gen_random_uuid(), '{}', 'digest', 1, 'ann', 'running',
           gen_random_uuid(), 'k1', gen_random_uuid(), now() + interval '1 hour')`,
      [jobs[index], of],
    );
    await database.query(`insert into link_job_rows (job_id, row, reference) values ($1, 1, 'ann')`, [
      jobs[index],
    ]);
  }
  const erasure = anErasure({ account });
  const isDone = async () => (await operator.rpc.request(ERASE.console, erasure)).isDone;
  expect(await isDone()).toBe(false);
  expect(
    await database.query(
      `select reference, request_digest from link_job_rows join link_jobs on id = job_id where id = any($1)
         order by account_id = $2 desc`,
      [jobs, account],
    ),
  ).toEqual([
    { reference: null, request_digest: '' },
    { reference: 'ann', request_digest: 'digest' },
  ]);
  expect(await isDone()).toBe(false);
  // The next batch read its rows after the erasure.
  await database.query('update link_jobs set turn_at = clock_timestamp() where id = $1', [jobs[0]]);
  expect(await isDone()).toBe(true);
});

it('removes a journey from the jobs whose references are journey ids, and from no others', async () => {
  const account = anAccountId();
  for (const request of [{ references_are_journey_ids: true }, { references_are_journey_ids: false }, {}]) {
    const id = randomUUID();
    await database.query(
      `insert into link_jobs (id, account_id, idempotency_key, request, request_digest, total, created_by, state,
           key_secret, keyring_id, console_key_id)
         values ($1, $2, gen_random_uuid(), $3, 'digest', 2, 'ann', 'done', gen_random_uuid(), 'k1', gen_random_uuid())`,
      [id, account, request],
    );
    await database.query(
      `insert into link_job_rows (job_id, row, reference) values ($1, 1, 'ann'), ($1, 2, 'ben')`,
      [id],
    );
  }
  const erasure = anErasure({ account, kind: 'journey_id', value: 'ann' });
  expect((await operator.rpc.request(ERASE.console, erasure)).isDone).toBe(true);
  const rows = await database.query(
    `select coalesce(request->>'references_are_journey_ids', 'absent') as are, request_digest, reference
     from link_jobs join link_job_rows on job_id = id where account_id = $1 order by 1, row`,
    [account],
  );
  expect(rows.map(({ are, request_digest, reference }) => [are, request_digest, reference])).toEqual([
    ['absent', 'digest', 'ann'],
    ['absent', 'digest', 'ben'],
    ['false', 'digest', 'ann'],
    ['false', 'digest', 'ben'],
    ['true', '', null],
    ['true', '', 'ben'],
  ]);
});

it('deletes the saved questions about an erased person, and no others', async () => {
  const [account, other] = [anAccountId(), anAccountId()];
  const saved: [account: string, question: string, name?: string][] = [
    [account, 'cube=perk_clicks&where=journey_id%3Aj%3A1'],
    [account, 'cube=perk_clicks&filter=journey_id&operator=equals&value=j%3A1'],
    [account, 'cube=perk_clicks&where=journey_id%3Aj%3A12'],
    [other, 'cube=perk_clicks&where=journey_id%3Aj%3A1'],
    [account, 'cube=perk_clicks', 'j:12, then (j:1)'],
    [account, 'cube=perk_clicks', 'obj:1 and j:12'],
  ];
  for (const [nth, [of, question, name]] of saved.entries())
    await database.query(
      `insert into saved_questions (id, account_id, name, question, saved_by, saved_at)
         values (gen_random_uuid(), $1, $2, $3, 'ann', now())`,
      [of, name ?? `question ${nth}`, question],
    );
  await operator.rpc.request(ERASE.console, anErasure({ account, kind: 'journey_id', value: 'j:1' }));
  const left = await database.query('select name from saved_questions order by name');
  expect(left.map(({ name }) => name)).toEqual(['obj:1 and j:12', 'question 2', 'question 3']);
});

describe('the count of what an account stores about a person', () => {
  const session = { consoleKeyId: randomUUID() } as Session;
  const responders: { close(): Promise<void> }[] = [];
  let codes: RpcResponder<object>;
  beforeAll(async () => {
    responders.push(
      await respond(nats.url, OPEN_CONSOLE_KEY, ({ for: holder }) => ({
        account: (holder as { viewing: string }).viewing,
        accountName: 'Ostervale',
        role: 'USER' as const,
        signedInWith: null,
        email: null,
        keyMaker: null,
        approvals: null,
      })),
    );
    codes = await respond(nats.url, COUNT_CODES_OF_CUSTOMER, () => ({ codes: 2 }));
    responders.push(codes);
  });
  afterAll(() => closeAll(...responders));

  it('counts codes and rows while events are counted, and fails as unavailable if one count fails', async () => {
    tokenIssuer.hold();
    const persons = console.app.get(PersonsService, { strict: false });
    const found = persons.find(session, anAccountId(), { customer: 'ann' });
    found.catch(() => undefined);
    await waitFor(() => tokenIssuer.references.length === 1, 'the token for the count of events');
    await waitFor(() => codes.requests.length === 1, 'the count of codes', 5_000);
    tokenIssuer.release(503);
    await expect(found).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE', status: 503 });
  });
});
