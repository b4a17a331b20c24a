import { BEGIN_ERASURE, ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import {
  anAccountId,
  respond,
  closeAll,
  http,
  keptRows,
  placesOf,
  testNats,
  waitFor,
  type RpcResponder,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { ADMIN_KEY, launchTokenIssuer, tokenIssuerDatabase } from './launch';

const NAME = 'wilhelmina@example.org';
type App = keyof typeof ERASE;
const APPS = Object.keys(ERASE) as App[];

describe('an erasure', () => {
  let database: TestDatabase;
  let nats: TestNats;
  const open: { close(): Promise<unknown> }[] = [];

  beforeEach(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    open.push(database, nats);
  });
  afterEach(() => closeAll(...open.splice(0).reverse()));

  const launch = async () => {
    const issuer = await launchTokenIssuer({ database, nats });
    open.push(issuer);
    return issuer;
  };
  /** Stubs of the apps, whose replies a test may change. */
  const responses = async (
    reply: (app: App) => ErasedPart | Promise<ErasedPart> = () => ({ isDone: true }),
  ) => {
    const requested = {} as Record<App, RpcResponder<Erasure>>;
    open.push(await respond(nats.url, BEGIN_ERASURE, () => ({ standIn: 'erased-x', secret: 'aa' })));
    for (const app of APPS)
      open.push((requested[app] = await respond(nats.url, ERASE[app], () => reply(app))));
    return requested;
  };
  const erasures = async (issuer: LaunchedApp) => {
    const id = anAccountId();
    const admin = () => http(issuer, { key: ADMIN_KEY });
    await admin().put(`/admin/accounts/${id}`).send({ name: id }).expect(200);
    const path = `/admin/accounts/${id}/erasures`;
    return {
      account: id,
      path,
      admin,
      request: async (body: object, status = 202) =>
        (await admin().post(path).send(body).expect(status)).body,
      get: async (erasure: string) => (await admin().get(`${path}/${erasure}`).expect(200)).body,
    };
  };
  const parts = (state: string) => Object.fromEntries(APPS.map((app) => [app, state]));

  it('is done twice by every app, and then forgets its subject', async () => {
    const requested = await responses();
    const { account, request, get } = await erasures(await launch());
    const receipt = await request({ journey_id: NAME });
    expect(receipt).toEqual({
      id: expect.any(String),
      account_id: account,
      kind: 'journey_id',
      state: 'running',
      requested_at: expect.any(String),
      completed_at: null,
      parts: parts('waiting'),
    });
    await waitFor(async () => (await get(receipt.id)).state === 'done', 'the end', 30_000);
    expect(await get(receipt.id)).toEqual({
      ...receipt,
      state: 'done',
      completed_at: expect.any(String),
      parts: parts('done'),
    });
    for (const app of APPS)
      expect(requested[app].requests).toEqual(
        [1, 2].map((round) => ({
          id: receipt.id,
          account,
          kind: 'journey_id',
          value: NAME,
          round,
          standIn: 'erased-x',
          secret: 'aa',
        })),
      );
    expect(placesOf(await keptRows(database), [NAME])).toEqual([]);
    // A new request starts a new erasure.
    expect((await request({ journey_id: NAME })).id).not.toBe(receipt.id);
  });

  it('waits for unavailable apps, across a restart and with two replicas', async () => {
    let isUnavailable = true;
    const requested = await responses((app) => {
      if (app === 'links' && isUnavailable) throw new Error('DEPENDENCY_UNAVAILABLE');
      return { isDone: true };
    });
    const [first] = [await launch(), await launch()];
    const { request, get, path } = await erasures(first);
    const receipt = await request({ customer_id: NAME });
    expect((await request({ customer_id: NAME })).id).toBe(receipt.id);
    expect((await request({ journey_id: NAME })).id).not.toBe(receipt.id);
    await waitFor(
      () => requested['analytics-query'].requests.length > 0,
      'the event store to be asked',
      30_000,
    );
    expect((await get(receipt.id)).state).toBe('running');
    await first.close();
    isUnavailable = false;
    const later = http(await launch(), { key: ADMIN_KEY });
    await waitFor(
      async () => (await later.get(`${path}/${receipt.id}`)).body.state === 'done',
      'the end',
      60_000,
    );
  });

  it('starts again if it is requested again in its last round', async () => {
    let isBack = false;
    const roundsOf = (app: App) => [...new Set(requested[app].requests.map(({ round }) => round))];
    const requested = await responses((app) => {
      if (app === 'boost' && !isBack && roundsOf('boost').includes(2))
        throw new Error('DEPENDENCY_UNAVAILABLE');
      return { isDone: true };
    });
    const { request, get } = await erasures(await launch());
    const receipt = await request({ customer_id: NAME });
    await waitFor(
      async () => expect((await get(receipt.id)).parts).toEqual({ ...parts('done'), boost: 'waiting' }),
      'all but one',
      30_000,
    );
    expect(await request({ customer_id: NAME })).toEqual({ ...receipt, parts: parts('waiting') });
    isBack = true;
    await waitFor(async () => (await get(receipt.id)).state === 'done', 'the end', 30_000);
    for (const app of APPS) expect(roundsOf(app)).toEqual([1, 2, 3, 4]);
  });

  it('takes over nothing that an app did for the request before', async () => {
    let release = (_: ErasedPart) => {};
    const held = new Promise<ErasedPart>((resolve) => (release = resolve));
    const isHeld = () => requested.links.requests.some(({ round }) => round === 1);
    const requested = await responses((app) => {
      if (app === 'boost' && requested.boost.requests.at(-1)!.round === 1)
        throw new Error('DEPENDENCY_UNAVAILABLE');
      return app === 'links' ? held : { isDone: true };
    });
    const { request, get } = await erasures(await launch());
    const receipt = await request({ customer_id: NAME });
    await waitFor(isHeld, 'a request that is still being handled');
    await request({ customer_id: NAME });
    release({ isDone: true });
    await waitFor(async () => (await get(receipt.id)).state === 'done', 'the end', 60_000);
    for (const app of APPS)
      expect([app, requested[app].requests.map(({ round }) => round)]).toEqual([
        app,
        expect.arrayContaining([2, 3]),
      ]);
  });

  it('names missing and invalid fields', async () => {
    const { request, admin, path } = await erasures(await launch());
    for (const body of [{}, { journey_id: 'a', customer_id: 'b' }, { journey_id: null }])
      expect((await request(body, 400)).detail).toMatch(/^journey_id or `customer_id` must be given/);
    for (const [body, field] of [
      [{ journey_id: '' }, 'journey_id'],
      [{ journey_id: 'x'.repeat(256) }, 'journey_id'],
      [{ customer_id: 7 }, 'customer_id'],
      [{ journey_id: 'a', name: NAME }, 'name'],
    ] as const) {
      const problem = await request(body, 400);
      expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', detail: expect.stringContaining(field) });
      expect(JSON.stringify(problem)).not.toContain(NAME);
    }
    const unknown = '/admin/accounts/nobody/erasures';
    for (const call of [
      admin().post(unknown).send({ journey_id: 'a' }),
      admin().get(unknown),
      admin().get(`${unknown}/7a3c1f0e-2b64-4a0e-9d0c-5f6a7b8c9d10`),
    ])
      expect((await call.expect(404)).body.code).toBe('ACCOUNT_NOT_FOUND');
    for (const id of ['none', '7a3c1f0e-2b64-4a0e-9d0c-5f6a7b8c9d10'])
      expect((await admin().get(`${path}/${id}`).expect(404)).body.code).toBe('ERASURE_NOT_FOUND');
  });

  it('is listed, newest first', async () => {
    const issuer = await launch();
    const { request, admin, path } = await erasures(issuer);
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.unshift((await request({ journey_id: name })).id);
    const { body } = await admin().get(`${path}?limit=2`).expect(200);
    const rest = await admin().get(`${path}?limit=2&cursor=${body.next_cursor}`).expect(200);
    expect([...body.data, ...rest.body.data].map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(rest.body.next_cursor).toBeNull();
    const others = await erasures(issuer);
    expect((await admin().get(others.path).expect(200)).body.data).toEqual([]);
    await admin().get(`${others.path}/${ids[0]}`).expect(404);
    await admin().get(`${others.path}?cursor=${body.next_cursor}`).expect(400);
  });
});
