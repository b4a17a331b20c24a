import { ADMIN_KEY, Fleet } from './fleet';

describe('saved questions', () => {
  const fleet = new Fleet();
  beforeAll(() => fleet.start(['token-issuer']), 240_000);
  afterAll(() => fleet.close());

  const PATH = '/api/saved-questions';
  const question = 'cube=incentive_clicks&measures=count_people&where=campaign_id%3Aspring&dates=90';
  async function aPage() {
    const { account, key } = await fleet.anAccount();
    const page = fleet.page(await fleet.signIn(key));
    const names = async () =>
      ((await page.get(PATH).expect(200)).body as { name: string }[]).map(({ name }) => name);
    return { account, key, page, names };
  }

  it('are seen, replaced and deleted by everybody of the account, and by nobody else', async () => {
    const mine = await aPage();
    const { body: saved } = await mine.page.post(PATH).send({ name: 'Clicks', question }).expect(200);
    expect(saved).toMatchObject({ name: 'Clicks', question });
    const colleague = fleet.page(await fleet.signIn(mine.key));
    expect((await colleague.get(PATH).expect(200)).body).toEqual([saved]);
    const { body: replaced } = await colleague
      .post(PATH)
      .send({ name: 'Clicks', question: 'cube=perk_clicks' })
      .expect(200);
    expect(replaced).toMatchObject({ id: saved.id, question: 'cube=perk_clicks' });

    const theirs = await aPage();
    expect(await theirs.names()).toEqual([]);
    const refused = await theirs.page.delete(`${PATH}/${saved.id}`).expect(404);
    expect(refused.body.code).toBe('QUESTION_NOT_FOUND');
    await theirs.page.delete(`${PATH}/x`).expect(404);
    await mine.page.delete(`${PATH}/${saved.id}`).expect(204);
    await mine.page.delete(`${PATH}/${saved.id}`).expect(404);
    expect(await mine.names()).toEqual([]);
    const { body: log } = await mine.page
      .get('/api/audit-log')
      .query({ kind: 'saved-questions' })
      .expect(200);
    expect(
      log.data.map(({ action, before, after }: Record<string, unknown>) => [action, before, after]),
    ).toEqual([
      ['DELETE', { id: saved.id }, null],
      ['POST', null, { id: saved.id }],
      ['POST', null, { id: saved.id }],
    ]);
  });

  it('need a name and a question that Explore can show', async () => {
    const { page, names } = await aPage();
    for (const [field, body] of [
      ['name', { name: '', question }],
      ['name', { name: 'x'.repeat(101), question }],
      ['question', { name: 'a' }],
      ['question', { name: 'a', question: 'measures=count' }],
      ['question', { name: 'a', question: 'cube=perk_clicks&next=https://evil.example' }],
      ['question', { name: 'a', question: `cube=${'x'.repeat(2_000)}` }],
    ] as const)
      expect((await page.post(PATH).send(body).expect(400)).body.errors).toMatchObject([{ field }]);
    expect(await names()).toEqual([]);
    // An operator who views an account only reads.
    const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
    const { account } = await aPage();
    await operator.post('/api/view').send({ accountId: account }).expect(200);
    const viewing = await operator.post(PATH).send({ name: 'a', question }).expect(403);
    expect(viewing.body.code).toBe('VIEW_READ_ONLY');
  });

  it('are at most 100 for an account, however many are saved at once', async () => {
    const { page, names } = await aPage();
    const save = (nth: number) => page.post(PATH).send({ name: `question ${nth}`, question });
    // More at once than connections to the database would wait too long on a busy machine.
    for (let nth = 0; nth < 95; nth += 1) await save(nth).expect(200);
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async (_, more) => (await save(95 + more)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5);
    const [known] = await names();
    await page.post(PATH).send({ name: known, question: 'cube=perk_views' }).expect(200);
    expect(await names()).toHaveLength(100);
  });
});
