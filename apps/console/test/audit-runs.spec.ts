import { actionOf, runsOf } from '../web/src/audit-runs';

const made = (id: number) => ({
  ...{ id: String(id), at: `2026-11-20T16:02:${id}.000Z`, account: 'platform', actor: 'bootstrap' },
  ...{ action: 'PUT', path: `/admin/perks/p${id}` },
  person: null as string | null,
  status: 200 as number | null,
});
type Entry = ReturnType<typeof made>;
const entry = (id: number, changes: Partial<Entry> = {}): Entry => ({ ...made(id), ...changes });
const shown = (...entries: Entry[]) =>
  runsOf(
    entries,
    ({ action, path }) => (path.includes('/perks/') ? `${action} perk` : undefined),
    ({ account }) => account,
  ).map(({ title, entries: of }) => [title, of.map(({ id }) => id).join()]);

describe('runs of the audit log', () => {
  it('group three or more entries of the same action in the same minute, and lose none', () => {
    expect(shown(entry(13), entry(12), entry(11))).toEqual([['PUT perk', '13,12,11']]);
    expect(shown(entry(12), entry(11))).toEqual([
      [null, '12'],
      [null, '11'],
    ]);
  });

  it('end at another author, account, action, outcome or minute', () => {
    const ends: Partial<Entry>[] = [
      ...[{ actor: 'other' }, { person: 'ada@example.com' }, { account: 'acme' }, { action: 'DELETE' }],
      ...[{ status: 409 }, { status: null }, { at: '2026-11-20T16:01:59.000Z' }, { path: '/else' }],
    ];
    for (const other of ends)
      expect(shown(entry(14), entry(13), entry(12), entry(11, other))).toEqual([
        ['PUT perk', '14,13,12'],
        [null, '11'],
      ]);
    // Entries between them keep their place.
    expect(shown(entry(14), entry(13, { path: '/else' }), entry(12), entry(11))).toHaveLength(4);
  });

  it('never group calls without a sentence', () => {
    const unknown = [13, 12, 11].map((id) => entry(id, { path: '/else' }));
    expect(shown(...unknown)).toHaveLength(3);
  });

  it('are titled by action and kind, or by the whole sentence if it says more', () => {
    expect(actionOf('Created perk $1', 'Created perk Fernway')).toBe('Created perk');
    expect(actionOf('Loaded cards into pool $1', 'Loaded cards into pool 0b6f')).toBe(
      'Loaded cards into pool 0b6f',
    );
    expect(actionOf('Created a key of $1', 'Created a key of acme')).toBe('Created a key of acme');
    expect(actionOf('Let $2 sign in for $1', 'Let ada sign in for acme')).toBe('Let ada sign in for acme');
  });
});
