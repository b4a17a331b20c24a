import type { ErrorCode } from '@perkway/domain';
import type { TestKey } from './fake-accounts.js';
import { http } from './http.js';

/** A type of resource that is stored and read back over `/admin`. */
export interface ResourceKind {
  app: { url: string };
  admin: TestKey;
  user: TestKey;
  /** The path of the list, such as `/admin/perks`. */
  path: string;
  notFound: ErrorCode;
  /** Returns an id that no resource has. */
  newId(): string;
  /** Returns a valid body with every member; each number gives a different body. */
  body(number: number): Record<string, unknown>;
  /** Functions that add one unknown member to a body, by the field name in the error. */
  unknownMembers: Record<string, (body: Record<string, unknown>) => Record<string, unknown>>;
  canBeDeleted?: boolean;
}

interface HttpResponse {
  [member: string]: unknown;
  id: string;
  created_at: string;
  updated_at: string;
}

const PARALLEL = 20;

/** Declares the tests that every `/admin` resource must pass. Call it inside `describe`. */
export function behavesLikeAResource(kindOf: () => ResourceKind): void {
  const call = (method: 'get' | 'put' | 'delete', path: string, headers: Record<string, string> = {}) => {
    const { app, admin } = kindOf();
    return http(app, admin)[method](path).set(headers);
  };
  const at = (id: string) => `${kindOf().path}/${id}`;
  const put = (id: string, body: object, headers?: Record<string, string>) =>
    call('put', at(id), headers).send(body);
  // Not random: a random number could match the search text of another test.
  let lastNumber = 100;
  const make = async (number = (lastNumber += 1)) => {
    const id = kindOf().newId();
    const { body, headers } = await put(id, kindOf().body(number)).expect(200);
    return { id, stored: body as HttpResponse, etag: headers['etag']! };
  };

  it('returns what was stored, and storing that again changes nothing', async () => {
    const { id, stored, etag } = await make(1);
    expect(stored).toMatchObject(kindOf().body(1));
    expect(String(stored.id)).toBe(id);
    expect(stored.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(stored.updated_at).toBe(stored.created_at);
    expect(etag).toMatch(/^"[^"]+"$/);
    for (let time = 0; time < 2; time += 1) {
      const read = await call('get', at(id)).expect(200);
      expect(read.body).toEqual(stored);
      expect(read.headers['etag']).toBe(etag);
      const again = await put(id, read.body).expect(200);
      expect(again.body).toEqual(stored);
      expect(again.headers['etag']).toBe(etag);
    }

    const changed = await put(id, kindOf().body(2)).expect(200);
    expect(changed.body).toMatchObject({ ...kindOf().body(2), created_at: stored.created_at });
    expect(Date.parse(changed.body.updated_at)).toBeGreaterThan(Date.parse(stored.updated_at));
    expect(changed.headers['etag']).not.toBe(etag);
    expect((await call('get', at(id)).expect(200)).body).toEqual(changed.body);

    // Restoring the first body is a change too.
    const back = await put(id, kindOf().body(1)).expect(200);
    expect(back.headers['etag']).not.toBe(etag);
  });

  it('stores only if If-Match matches', async () => {
    const { id, etag } = await make(1);
    const missing = kindOf().newId();
    const refused = async (id: string, ifMatch: string) => {
      const { body } = await put(id, kindOf().body(3), { 'If-Match': ifMatch }).expect(412);
      expect(body.code).toBe('PRECONDITION_FAILED');
    };
    await refused(missing, '*');
    await refused(missing, etag);
    await call('get', at(missing)).expect(404);
    for (const wrong of ['"x"', etag.slice(1, -1), `W/${etag}`, '', '""']) await refused(id, wrong);
    await put(id, kindOf().body(2), { 'If-Match': '*' }).expect(200);
    await refused(id, etag);
    const now = (await call('get', at(id)).expect(200)).headers['etag']!;
    await put(id, kindOf().body(3), { 'If-Match': `"other", ${now}` }).expect(200);
    await refused(id, now);
  });

  it(`accepts one of ${PARALLEL} concurrent PUTs with the same If-Match`, async () => {
    const { id, etag } = await make(0);
    const responses = await Promise.all(
      Array.from({ length: PARALLEL }, (_, index) => put(id, kindOf().body(index + 1), { 'If-Match': etag })),
    );
    const winners = responses.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 412)).toHaveLength(PARALLEL - 1);
    expect((await call('get', at(id)).expect(200)).body).toEqual(winners[0]!.body);
  });

  it('creates one resource for concurrent PUTs of the same body', async () => {
    const id = kindOf().newId();
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => put(id, kindOf().body(1)).expect(200)),
    );
    expect(new Set(responses.map(({ headers }) => headers['etag'])).size).toBe(1);
  });

  it('refuses unknown members by name, at any depth', async () => {
    const { id, etag } = await make(1);
    for (const [name, spoil] of Object.entries(kindOf().unknownMembers)) {
      const { body } = await put(id, spoil(kindOf().body(2))).expect(400);
      expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: name }] });
      expect(body.errors).toHaveLength(1);
      expect(body.detail).toContain(`${name} is unknown`);
    }
    const readOnly = { id: 'x', created_at: 7, updated_at: null, inventories: [{}] };
    const { headers } = await put(id, { ...kindOf().body(1), ...readOnly }).expect(200);
    expect(headers['etag']).toBe(etag);
  });

  it('requires an ADMIN key, and responds 404 to an unknown id', async () => {
    const { app, user, path, notFound } = kindOf();
    const { id } = await make();
    const methods: ('get' | 'put' | 'delete')[] =
      kindOf().canBeDeleted === false ? ['get', 'put'] : ['get', 'put', 'delete'];
    for (const method of methods) {
      const { body } = await http(app, user)[method](`${path}/${id}`).expect(403);
      expect(body.code).toBe('FORBIDDEN');
      await http(app)[method](`${path}/${id}`).expect(401);
    }
    await http(app, user).get(path).expect(403);
    expect((await call('get', at(kindOf().newId())).expect(404)).body.code).toBe(notFound);
    if (kindOf().canBeDeleted !== false)
      expect((await call('delete', at(kindOf().newId())).expect(404)).body.code).toBe(notFound);
  });

  it('deletes the resource, or responds 405 if the type cannot be deleted', async () => {
    const { id, etag } = await make(1);
    if (kindOf().canBeDeleted === false) {
      await call('delete', at(id)).expect(405);
      return;
    }
    const { body } = await call('delete', at(id), { 'If-Match': '"x"' }).expect(412);
    expect(body.code).toBe('PRECONDITION_FAILED');
    await call('delete', at(id), { 'If-Match': etag }).expect(204);
    await call('get', at(id)).expect(404);
    await call('delete', at(id)).expect(404);
    const again = await put(id, kindOf().body(1)).expect(200);
    expect(again.headers['etag']).not.toBe(etag);
    await call('delete', at(id)).expect(204);
  });

  it('lists each resource once while others are created and deleted', async () => {
    const staying = new Map<string, HttpResponse>();
    const leaving: string[] = [];
    for (let number = 0; number < 24; number += 1) {
      const { id, stored } = await make(number);
      if (number % 2 === 0 || kindOf().canBeDeleted === false) staying.set(id, stored);
      else leaving.push(id);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { body: { data: HttpResponse[]; next_cursor: string | null } } = await call(
        'get',
        `${kindOf().path}?limit=3${cursor ? `&cursor=${cursor}` : ''}`,
      ).expect(200);
      for (const item of page.body.data) {
        seen.push(String(item.id));
        const known = staying.get(String(item.id));
        if (known) expect(item).toEqual(known);
      }
      cursor = page.body.next_cursor;
      if (cursor) expect(page.body.data).toHaveLength(3);
      await make();
      const gone = leaving.shift();
      if (gone) await call('delete', at(gone)).expect(204);
    } while (cursor);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining([...staying.keys()]));
  });

  it('rejects invalid list parameters by name', async () => {
    for (const [name, value] of [
      ['limit', '0'],
      ['limit', '201'],
      ['limit', 'x'],
      ['cursor', 'x'],
      ['cursor', ''],
      ['q', '%00'],
      ['q', 'x'.repeat(201)],
    ]) {
      const { body } = await call('get', `${kindOf().path}?${name}=${value}`).expect(400);
      expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: name }] });
    }
  });
}
