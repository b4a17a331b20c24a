import { isCsv, readCards, type Catalogue, type InFile } from '@perkway/catalogue';

export type ManagedHost = 'token' | 'perks' | 'boost' | 'gift';

/** One management API call. */
export interface Call {
  kind:
    | 'account'
    | 'key'
    | 'person'
    | 'category'
    | 'perk'
    | 'codes'
    | 'collection'
    | 'campaign'
    | 'pool'
    | 'cards';
  id: string;
  /** Names the file, and except for cards the resource, in problems. */
  what: string;
  method: 'PUT' | 'POST';
  path: string;
  contentType: string;
  body: string;
  timeoutMs: number;
  /**
   * Where the current state is read: by a dry run, and before each PUT. `key` replaces the ADMIN key; `count` is the
   * number of codes or cards in the file.
   */
  readBack: { path: string; key?: string; count?: number };
}
/** Independent calls. A stage begins when the one before has ended. */
export type Stage = Call[];

const CALL_TIMEOUT_MS = 15_000;
/** Loading cards takes long: the host reads the file as a stream and encrypts each card. */
const LOAD_TIMEOUT_MS = 30 * 60_000;
const NAMES: Record<Call['kind'], string> = {
  account: 'account',
  key: 'user key of account',
  person: 'person',
  category: 'category',
  perk: 'perk',
  codes: 'codes of perk',
  collection: 'collection',
  campaign: 'campaign',
  pool: 'pool',
  cards: 'cards of pool',
};

const segment = encodeURIComponent;
const json = (
  call: Pick<Call, 'kind' | 'id' | 'method' | 'path'> & { readBack?: Call['readBack'] },
  { file }: { file: string },
  body: unknown,
): Call => ({
  what: `${file}, ${NAMES[call.kind]} "${call.id}"`,
  contentType: 'application/json',
  body: JSON.stringify(body),
  timeoutMs: CALL_TIMEOUT_MS,
  readBack: { path: call.path },
  ...call,
});

const put = <T extends { id: string | number }>(
  kind: Call['kind'],
  list: string,
  entries: InFile<T>[],
): Stage =>
  entries.map(({ file, row: _row, id, ...body }) =>
    json({ kind, id: String(id), method: 'PUT', path: `/admin/${list}/${segment(id)}` }, { file }, body),
  );

/** Returns the calls that apply a catalogue to each host, with the hosts in order of their dependencies. */
export function planCatalogue(data: Catalogue): Record<ManagedHost, Stage[]> {
  return {
    token: [
      put(
        'account',
        'accounts',
        data.accounts.map(({ user_key: _key, people: _people, ...account }) => account),
      ),
      [
        ...data.accounts.flatMap(({ file, id, user_key: key }) =>
          key === undefined
            ? []
            : json(
                {
                  kind: 'key',
                  id,
                  method: 'POST',
                  path: `/admin/accounts/${segment(id)}/keys`,
                  readBack: { path: '/cube/token', key },
                },
                { file },
                { role: 'USER', name: 'Imported key', key },
              ),
        ),
        ...data.accounts.flatMap(({ file, id, people = [] }) =>
          people.map(({ email, role }) =>
            json(
              {
                kind: 'person',
                id: `${id}/${email}`,
                method: 'PUT',
                path: `/admin/accounts/${segment(id)}/people/${segment(email)}`,
              },
              { file },
              { role },
            ),
          ),
        ),
      ],
    ],
    perks: [
      put('category', 'categories', data.categories),
      put('perk', 'perks', data.perks),
      [
        ...put('collection', 'perk-collections', data.collections),
        ...[...data.codes].map(([perk, { file, codes }]) => {
          const path = `/admin/perks/${segment(perk)}/coupon-codes`;
          const readBack = { path, count: codes.length };
          return json({ kind: 'codes', id: perk, method: 'POST', path, readBack }, { file }, { codes });
        }),
      ],
    ],
    boost: [put('campaign', 'campaigns', data.campaigns)],
    gift: [
      put(
        'pool',
        'pools',
        data.pools.map(({ cards: _cards, text: _text, ...pool }) => pool),
      ),
      data.pools.flatMap((pool) =>
        pool.text === undefined
          ? []
          : {
              kind: 'cards',
              id: pool.id,
              what: `cards/${pool.cards}`,
              method: 'POST',
              path: `/admin/pools/${segment(pool.id)}/cards`,
              contentType: isCsv(pool) ? 'text/csv' : 'application/x-ndjson',
              body: pool.text,
              timeoutMs: LOAD_TIMEOUT_MS,
              readBack: { path: `/admin/pools/${segment(pool.id)}`, count: readCards(pool).length },
            },
      ),
    ],
  };
}
