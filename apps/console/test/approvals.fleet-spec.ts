import { Clock } from '@perkway/platform';
import { waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { LinkJobApprovals } from '../src/link-jobs/link-job-approvals.js';
import { SessionsService } from '../src/sessions/sessions.service.js';
import { ADMIN_KEY, Fleet } from './fleet';

const DAY_MS = 24 * 60 * 60_000;
const ROUNDS = 10;

describe('approvals of link jobs', () => {
  const fleet = new Fleet();
  let replica: Awaited<ReturnType<Fleet['launch']>>;
  beforeAll(async () => {
    await fleet.start(['token-issuer', 'gift-cards']);
    replica = await fleet.launch();
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await replica?.close();
    await fleet.close();
  });

  const putAccount = (account: string, approvals: object | null) =>
    fleet
      .admin('token-issuer')
      .put(`/admin/accounts/${account}`)
      .send({ name: account, approvals })
      .expect(200);

  /** Signs in as the provider's callback does. */
  const signInPerson = async (account: string, email: string) => {
    const { id } = await fleet.console.app.get(SessionsService).signInPerson(email, account);
    return `perkway_session=${id}`;
  };

  /** An account with a pool, a key and two people who may approve each other's jobs. */
  const aBank = async (approvals: object | null, cards = 20) => {
    const { account, key } = await fleet.anAccount();
    await putAccount(account, approvals);
    const poolId = randomUUID();
    await fleet.admin('gift-cards').put(`/admin/pools/${poolId}`).send({ owner: account }).expect(200);
    const load = (count: number) =>
      fleet
        .admin('gift-cards')
        .post(`/admin/pools/${poolId}/cards`)
        .set('content-type', 'text/csv')
        .send(
          ['code,denomination,currency,country']
            .concat(Array.from({ length: count }, () => `${randomUUID()},25,EUR,FR`))
            .join('\n'),
        )
        .expect(200);
    await load(cards);
    const person = async (name: string) => {
      const email = `${name}@${account}.example`;
      await fleet
        .admin('token-issuer')
        .put(`/admin/accounts/${account}/people/${email}`)
        .send({ role: 'USER' })
        .expect(200);
      const cookie = await signInPerson(account, email);
      return { email, page: fleet.page(cookie), elsewhere: fleet.page(cookie, replica) };
    };
    const [ann, ben] = [await person('ann'), await person('ben')];
    const withKey = fleet.page(await fleet.signIn(key));
    const logOf = async (jobId: string) => {
      const { body } = await ann.page.get('/api/audit-log').expect(200);
      const entries: { path: string; actor: string; status: number; after: { refused?: string } }[] =
        body.data.filter(({ path }: { path: string }) => path.includes(jobId));
      return entries
        .reverse()
        .map(({ path, actor, status, after }) => [path.split('/').at(-1), actor, status, after.refused]);
    };
    return { account, poolId, load, ann, ben, person, withKey, logOf };
  };
  type Bank = Awaited<ReturnType<typeof aBank>>;
  type Page = Bank['ann']['page'];

  const create = async (page: Page, poolId: string, more: object, state: string): Promise<string> => {
    const { body } = await page
      .post('/api/link-jobs')
      .set('idempotency-key', randomUUID())
      .send({ poolId, denomination: 25, currency: 'EUR', ...more })
      .expect(202);
    expect(body.state).toBe(state);
    return body.id;
  };
  const waiting = (page: Page, poolId: string, more: object = { count: 6 }) =>
    create(page, poolId, more, 'awaiting_approval');
  const decide = (page: Page, id: string, verb: 'approve' | 'reject', comment = 'Within the budget') =>
    page.post(`/api/link-jobs/${id}/${verb}`).send({ comment });
  const get = async (page: Page, id: string) => (await page.get(`/api/link-jobs/${id}`).expect(200)).body;
  const until = async (page: Page, id: string, state: string) => {
    await waitFor(async () => (await get(page, id)).state === state, `the job to be ${state}`, 120_000);
    return get(page, id);
  };
  const linksOf = async (account: string) => {
    const [row] = await fleet.database.query<{ links: number }>(
      'select count(*)::integer as links from gift_cards.reward_links where account = $1',
      [account],
    );
    return row!.links;
  };

  it('hold jobs of more links or a higher value than the account allows, and only those', async () => {
    const { account, poolId, ann } = await aBank({ links: 5, amount: [{ currency: 'EUR', amount: 100 }] });
    const small = await create(ann.page, poolId, { count: 4 }, 'running');
    expect(await until(ann.page, small, 'done')).toMatchObject({ made: 4, approval: null });
    await waiting(ann.page, poolId, { count: 5 });
    await waiting(ann.page, poolId, { references: ['a', 'b', 'c', 'd', 'e', 'f'], denomination: 1 });
    // The value counts only in its own currency.
    await create(ann.page, poolId, { count: 5, currency: 'USD' }, 'running');
    await create(ann.page, poolId, { count: 1, denomination: 100 }, 'running');
    await putAccount(account, { amount: [{ currency: 'EUR', amount: 0.3 }] });
    await create(ann.page, poolId, { count: 3, denomination: 0.1 }, 'running');
    await waiting(ann.page, poolId, { count: 1, denomination: 0.31 });
    await putAccount(account, null);
    await create(ann.page, poolId, { count: 6 }, 'running');
  });

  it('reserve nothing until another person approves, and then create all links', async () => {
    const { account, poolId, ann, ben, logOf } = await aBank({ links: 5 });
    const id = await waiting(ann.page, poolId);
    expect(await get(ann.page, id)).toMatchObject({
      state: 'awaiting_approval',
      created_by: ann.email,
      total: 6,
      made: 0,
      approval: { may_decide: false, decided_by: null, decided_at: null, comment: null },
    });
    const { approval } = await get(ben.page, id);
    expect(approval.may_decide).toBe(true);
    const wait = Date.parse(approval.lapses_at) - Date.now();
    expect(wait / DAY_MS).toBeCloseTo(7, 2);
    // Neither resuming nor stopping starts it.
    for (const verb of ['resume', 'stop', 'resume'])
      expect((await ann.page.post(`/api/link-jobs/${id}/${verb}`).expect(200)).body.state).toBe(
        'awaiting_approval',
      );
    expect(await linksOf(account)).toBe(0);
    const { body } = await decide(ben.page, id, 'approve').expect(200);
    expect(body).toMatchObject({
      state: 'running',
      created_by: ann.email,
      approval: { may_decide: false, decided_by: ben.email, comment: 'Within the budget' },
    });
    expect(await until(ann.page, id, 'done')).toMatchObject({ made: 6, failed: [], created_by: ann.email });
    expect(await linksOf(account)).toBe(6);
    const csv = await ann.page.get(`/api/link-jobs/${id}/csv`).expect(200);
    expect(csv.text.trim().split('\r\n')).toHaveLength(7);
    expect((await logOf(id)).at(-1)).toEqual(['approve', ben.email, 200, undefined]);
  });

  it('are final if rejected', async () => {
    const { account, poolId, ann, ben, logOf } = await aBank({ links: 5 });
    const references = ['a', 'b', 'c', 'd', 'e', 'f'];
    const id = await waiting(ann.page, poolId, { references });
    /** Returns the references that got a link, or will. */
    const linked = async () =>
      (await ann.page.post('/api/link-jobs/check').send({ references }).expect(200)).body.references;
    expect(await linked()).toEqual(references);
    const { body } = await decide(ben.page, id, 'reject', 'Too many').expect(200);
    expect(body).toMatchObject({
      state: 'rejected',
      approval: { decided_by: ben.email, comment: 'Too many' },
    });
    for (const [verb, code] of [
      ['approve', 'NOT_AWAITING_APPROVAL'],
      ['reject', 'NOT_AWAITING_APPROVAL'],
    ] as const)
      expect((await decide(ben.page, id, verb).expect(409)).body.code).toBe(code);
    expect((await ann.page.post(`/api/link-jobs/${id}/resume`).expect(200)).body.state).toBe('rejected');
    expect(await linksOf(account)).toBe(0);
    expect(await linked()).toEqual([]);
    expect(await logOf(id)).toEqual(expect.arrayContaining([['reject', ben.email, 200, undefined]]));
  });

  it('are refused to the creator, to sessions of keys and a second time, and the log has the refusals', async () => {
    const { poolId, ann, ben, withKey, logOf } = await aBank({ links: 5 });
    const id = await waiting(ann.page, poolId);
    for (const verb of ['approve', 'reject'] as const) {
      expect((await decide(ann.page, id, verb).expect(403)).body.code).toBe('APPROVAL_OWN_JOB');
      expect((await decide(withKey, id, verb).expect(403)).body.code).toBe('APPROVAL_BY_KEY');
    }
    expect((await get(withKey, id)).approval.may_decide).toBe(false);
    await decide(ben.page, id, 'approve').expect(200);
    expect((await decide(ben.page, id, 'approve').expect(409)).body.code).toBe('NOT_AWAITING_APPROVAL');
    const log = await logOf(id);
    expect(log.map(([verb, , status, refused]) => [verb, status, refused])).toEqual([
      [id, 202, undefined],
      ['approve', 403, 'APPROVAL_OWN_JOB'],
      ['approve', 403, 'APPROVAL_BY_KEY'],
      ['reject', 403, 'APPROVAL_OWN_JOB'],
      ['reject', 403, 'APPROVAL_BY_KEY'],
      ['approve', 200, undefined],
      ['approve', 409, 'NOT_AWAITING_APPROVAL'],
    ]);
  });

  it('are refused to a person whose own key created the job', async () => {
    const { poolId, ann, ben } = await aBank({ links: 5 });
    const { body: key } = await ann.page.post('/api/keys').send({ role: 'USER' }).expect(201);
    const withOwnKey = fleet.page(await fleet.signIn(key.key));
    const id = await waiting(withOwnKey, poolId);
    expect((await decide(ann.page, id, 'approve').expect(403)).body.code).toBe('APPROVAL_OWN_JOB');
    await decide(ben.page, id, 'approve').expect(200);
    await until(ben.page, id, 'done');
  });

  it('are refused to other accounts, to people without access, and without a comment', async () => {
    const { account, poolId, ann, ben } = await aBank({ links: 5 });
    const id = await waiting(ann.page, poolId);
    const other = await aBank(null, 1);
    const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
    for (const page of [other.ann.page, operator])
      expect((await decide(page, id, 'approve').expect(404)).body.code).toBe('JOB_NOT_FOUND');
    expect((await decide(ben.page, 'nonsense', 'approve').expect(404)).body.code).toBe('JOB_NOT_FOUND');
    for (const body of [
      {},
      { comment: '' },
      { comment: 7 },
      { comment: 'x'.repeat(1_001) },
      { comment: '\0' },
    ])
      for (const verb of ['approve', 'reject']) {
        const { body: problem } = await ben.page.post(`/api/link-jobs/${id}/${verb}`).send(body).expect(400);
        expect(problem.errors).toMatchObject([{ field: 'comment' }]);
      }
    await fleet.admin('token-issuer').delete(`/admin/accounts/${account}/people/${ben.email}`).expect(204);
    // Within 5 seconds the guard may still know the session, but the approval needs a new key.
    expect((await decide(ben.page, id, 'approve').expect(401)).body.code).toBe('SESSION_ENDED');
    expect((await get(ann.page, id)).state).toBe('awaiting_approval');
  });

  it('lapse after 7 days', async () => {
    const { account, poolId, ann, ben, logOf } = await aBank({ links: 5 });
    const id = await waiting(ann.page, poolId);
    const created = Date.now();
    const now = jest.spyOn(fleet.console.app.get(Clock), 'now');
    const approvals = fleet.console.app.get(LinkJobApprovals);
    now.mockReturnValue(created + 7 * DAY_MS - 60_000);
    await approvals.lapse();
    expect((await get(ben.page, id)).approval.may_decide).toBe(true);
    // A job cannot be approved in time by a late look.
    now.mockReturnValue(created + 7 * DAY_MS + 60_000);
    expect((await get(ben.page, id)).approval.may_decide).toBe(false);
    expect((await decide(ben.page, id, 'approve').expect(409)).body.code).toBe('APPROVAL_LAPSED');
    await Promise.all([approvals.lapse(), approvals.lapse()]);
    expect(await get(ann.page, id)).toMatchObject({ state: 'lapsed', made: 0 });
    for (const verb of ['approve', 'reject'] as const)
      expect((await decide(ben.page, id, verb).expect(409)).body.code).toBe('APPROVAL_LAPSED');
    expect((await ann.page.post(`/api/link-jobs/${id}/resume`).expect(200)).body.state).toBe('lapsed');
    expect(await linksOf(account)).toBe(0);
    const entries = [
      ['approve', ben.email, 409, 'APPROVAL_LAPSED'],
      ['approve', ben.email, 409, 'APPROVAL_LAPSED'],
      ['lapse', 'console', 200, undefined],
      ['reject', ben.email, 409, 'APPROVAL_LAPSED'],
    ];
    // The console itself also lapses it, at any time after the deadline.
    expect((await logOf(id)).slice(1).sort()).toEqual(entries);
  });

  it('have one outcome if several people decide at the same time on different replicas', async () => {
    const { account, poolId, ann, ben, person, logOf } = await aBank({ links: 1 }, ROUNDS * 2);
    const cleo = await person('cleo');
    let approved = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await waiting(ann.page, poolId, { count: 2 });
      const responses = await Promise.all([
        decide(ben.page, id, 'approve', 'ben'),
        decide(cleo.elsewhere, id, round % 2 ? 'approve' : 'reject', 'cleo'),
        decide(ben.elsewhere, id, 'approve', 'ben'),
        decide(cleo.page, id, 'reject', 'cleo'),
      ]);
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      const { body } = responses.find(({ status }) => status === 200)!;
      const { state, approval } = await until(ann.page, id, body.state === 'rejected' ? 'rejected' : 'done');
      if (state === 'done') approved += 1;
      expect(approval).toMatchObject({ comment: approval.decided_by === ben.email ? 'ben' : 'cleo' });
      expect((await logOf(id)).filter(([, , status]) => status === 200)).toHaveLength(1);
    }
    expect(await linksOf(account)).toBe(approved * 2);
    // The keys of the refused approvals are closed, and those of the jobs that are done.
    await waitFor(async () => {
      const open = await fleet.database.query(
        `select k.id from accounts.api_keys k where k.account_id = $1 and k.is_console and k.revoked_at is null
           and not exists (select from sessions s where s.console_key_id = k.id)`,
        [account],
      );
      return open.length === 0;
    }, 'the keys of jobs to be closed');
  });

  describe('with limits', () => {
    const putLimit = (owner: string, limit: object) =>
      fleet
        .admin('gift-cards')
        .put(`/admin/limits/limit-${randomUUID()}`)
        .send({ owner, period: 'month', ...limit })
        .expect(200);

    it.each([
      ['links of the account', { links: 5 }, '0 of 5 links'],
      ['an amount', { amount: 149.99, currency: 'EUR' }, '0 of 149.99 EUR'],
      ['links of a pool', { links: 5, per: 'pool_id' }, '0 of 5 links'],
      ['links of a campaign', { links: 5, per: 'campaign_id' }, '0 of 5 links'],
      ['links of a creator', { links: 5, per: 'created_by' }, '0 of 5 links'],
      ['links of a reference', { links: 2, per: 'reference', period: 'total' }, '0 of 2 links'],
      ['links of a journey', { links: 2, per: 'journey_id', period: 'total' }, '0 of 2 links'],
    ])('are refused if the job cannot fit: %s', async (_, limit, used) => {
      const { account, poolId, ann, ben, logOf } = await aBank({ links: 5 });
      await putLimit(account, limit);
      const references = ['a', 'b', 'a', 'c', 'a', 'd'];
      const job = { references, references_are_journey_ids: true, campaign: 'spring' };
      const id = await waiting(ann.page, poolId, job);
      const { body } = await decide(ben.page, id, 'approve').expect(409);
      expect(body.code).toBe('LIMIT_REACHED');
      expect(body.detail).toContain(used);
      expect((await get(ben.page, id)).state).toBe('awaiting_approval');
      expect((await logOf(id)).at(-1)).toEqual(['approve', ben.email, 409, 'LIMIT_REACHED']);
      expect(await linksOf(account)).toBe(0);
    });

    it('are given if the job fits exactly, and limits of other links do not count', async () => {
      const { account, poolId, ann, ben } = await aBank({ links: 5 });
      for (const limit of [
        { links: 6, amount: 150, currency: 'EUR' },
        { links: 1, only: { pool_id: randomUUID() } },
        { links: 1, only: { campaign_id: 'winter' } },
        { amount: 1, currency: 'USD' },
        { links: 1, per: 'journey_id' },
      ])
        await putLimit(account, limit);
      const references = Array<string>(6).fill('a');
      const id = await waiting(ann.page, poolId, { references, campaign: 'spring' });
      await decide(ben.page, id, 'approve').expect(200);
      expect(await until(ann.page, id, 'done')).toMatchObject({ made: 6 });
    });

    it('hold while an approved job runs', async () => {
      const { account, poolId, ann, ben, load } = await aBank({ links: 5 }, 3);
      const id = await waiting(ann.page, poolId);
      await decide(ben.page, id, 'approve').expect(200);
      expect(await until(ann.page, id, 'failed')).toMatchObject({ made: 3, code: 'NO_AVAILABLE_CARDS' });
      await putLimit(account, { links: 4 });
      await load(10);
      await ann.page.post(`/api/link-jobs/${id}/resume`).expect(200);
      await waitFor(async () => (await get(ann.page, id)).code === 'LIMIT_REACHED', 'the limit', 120_000);
      expect(await get(ann.page, id)).toMatchObject({ state: 'failed', made: 4 });
      expect(await linksOf(account)).toBe(4);
    });
  });
});
