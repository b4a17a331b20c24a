import { ERASE } from '@perkway/domain';
import {
  anAccountId,
  anErasure,
  closeAll,
  rpcCaller,
  testNats,
  type RpcCaller,
  type TestDatabase,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { consoleDatabase, launchConsole } from './launch';

const open: { close(): Promise<unknown> }[] = [];
let database: TestDatabase;
let operator: RpcCaller;
beforeAll(async () => {
  const nats = await testNats();
  open.push(nats);
  database = await consoleDatabase();
  open.push(database);
  open.push(await launchConsole({ database, nats }));
  operator = await rpcCaller(nats.url);
  open.push(operator);
});
afterAll(() => closeAll(...open.reverse()));

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
