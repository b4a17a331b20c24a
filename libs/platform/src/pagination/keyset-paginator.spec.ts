import { Conditions, KeysetPaginator, type Listing } from '../index.js';

const PERKS: Listing = { name: 'perks' };
const LINKS: Listing = { name: 'links', limitError: 'KEY_EXISTS', cursorError: 'LINK_EXPIRED' };

/** Returns code and fields of the error that is thrown. */
const refusal = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    const { code, fields } = error as { code: string; fields: { field: string }[] };
    return [code, ...fields.map(({ field }) => field)];
  }
  return 'nothing was thrown';
};

describe('KeysetPaginator', () => {
  const pages = new KeysetPaginator('a secret of all replicas');
  const cursorOf = (listing: Listing, owner?: string, position: [string] = ['b']) =>
    pages.request<[string]>(listing, { limit: '1' }, owner).respond(
      [position, ['z']],
      (row) => row as [string],
      (row) => row,
    ).next_cursor!;

  it('returns a page and leads to the next one as long as there is one', () => {
    const rows = ['a', 'b', 'c', 'd', 'e'];
    const walk: string[][] = [];
    let cursor: string | null | undefined;
    do {
      const request = pages.request<[string]>(PERKS, { limit: '2', ...(cursor ? { cursor } : {}) });
      expect(request.rows).toBe(3);
      const after = request.after?.[0] ?? '';
      const read = rows.filter((row) => row > after).slice(0, request.rows);
      const page = request.respond(
        read,
        (row) => [row],
        (row) => row.toUpperCase(),
      );
      walk.push(page.data);
      cursor = page.next_cursor;
    } while (cursor);
    expect(walk).toEqual([['A', 'B'], ['C', 'D'], ['E']]);
    expect(
      pages.request<[string]>(PERKS, {}).respond(
        [],
        (row) => [row],
        (row) => row,
      ),
    ).toEqual({ data: [], next_cursor: null });
  });

  it.each([
    [undefined, 50],
    ['1', 1],
    ['200', 200],
    [['7', '9'], 9],
  ])('reads the limit %j as %d', (limit, expected) => {
    expect(pages.request(PERKS, { limit }).rows).toBe(expected + 1);
  });

  it.each(['', '0', '201', '1000', '-1', '1.5', '1e2', ' 1', 'ten', { a: '1' }])(
    'rejects the limit %j',
    (limit) => {
      expect(refusal(() => pages.request(PERKS, { limit }))).toEqual(['VALIDATION_FAILED', 'limit']);
      expect(refusal(() => pages.request(LINKS, { limit }))).toEqual(['KEY_EXISTS']);
    },
  );

  it('rejects any string that is not a cursor of this list', () => {
    const cursor = cursorOf(PERKS);
    expect(pages.request(PERKS, { cursor }).after).toEqual(['b']);
    const last = cursor.at(-1) === 'A' ? 'B' : 'A';
    const wrong = [
      '',
      'b',
      `${cursor}=`,
      ` ${cursor}`,
      cursor.slice(0, -1),
      `${cursor.slice(0, -1)}${last}`,
      `A${cursor.slice(1)}`,
      Buffer.from('["b"]').toString('base64url'),
      'A'.repeat(3_000),
      { a: cursor },
      cursorOf(LINKS),
      cursorOf(PERKS, 'harbour-bank'),
      new KeysetPaginator('another secret').request<[string]>(PERKS, { limit: '1' }).respond(
        ['b', 'c'],
        (row) => [row],
        (row) => row,
      ).next_cursor,
    ];
    for (const cursor of wrong) {
      expect(refusal(() => pages.request(PERKS, { cursor }))).toEqual(['VALIDATION_FAILED', 'cursor']);
      if (cursor !== cursorOf(LINKS))
        expect(refusal(() => pages.request(LINKS, { cursor }))).toEqual(['LINK_EXPIRED']);
    }
  });

  it("keeps the lists of accounts apart, even if one account's name ends with another's", () => {
    const cursor = cursorOf(LINKS, 'harbour-bank');
    expect(pages.request(LINKS, { cursor }, 'harbour-bank').after).toEqual(['b']);
    for (const owner of [undefined, 'other', 'bank'])
      expect(refusal(() => pages.request(LINKS, { cursor }, owner))).toEqual(['LINK_EXPIRED']);
    const split = cursorOf({ name: 'linksharbour' }, '-bank');
    expect(refusal(() => pages.request(LINKS, { cursor: split }, 'harbour-bank'))).toEqual(['LINK_EXPIRED']);
  });
});

describe('Conditions', () => {
  it('keeps values out of the SQL', () => {
    const conditions = new Conditions('first');
    expect(String(conditions)).toBe('true');
    const cruel = "'; drop table perks; --";
    conditions.and`owner = ${cruel}`.and`(created_at, id) < (${'t'}::timestamptz, ${1})`;
    expect(`${conditions} limit ${conditions.bind(51)}`).toBe(
      '(owner = $2) and ((created_at, id) < ($3::timestamptz, $4)) limit $5',
    );
    expect(conditions.parameters).toEqual(['first', cruel, 't', 1, 51]);
    expect(`${new Conditions().search(undefined, 'id').search('50%', 'id::text', 'name')}`).toBe(
      '(strpos(lower(id::text), lower($1)) > 0 or strpos(lower(name), lower($1)) > 0)',
    );
  });
});
