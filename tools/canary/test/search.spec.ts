import { createLogger } from '@perkway/platform';
import { pino } from 'pino';
import { RIGHTS } from '../src/rights.js';
import { search, type Canary } from '../src/search.js';

const SECRET = 'Ünlike-5f0e1d2c3b4a/9+x "y"';
const canary: Canary = { kind: 'API key', text: SECRET };
const inPlace = (text: string, place = 'log of perks') => search([{ place, text }], [canary], []);

describe('the search', () => {
  it.each([
    ['as it is', SECRET],
    ['in another case', SECRET.toUpperCase()],
    ['in JSON', JSON.stringify({ deep: [SECRET] })],
    ['in a URL', `/x?y=${encodeURIComponent(SECRET)}`],
    ['in hex', Buffer.from(`before ${SECRET} after`).toString('hex')],
    ['in base64', Buffer.from(`before ${SECRET} after`).toString('base64')],
    ['in base64, shifted', Buffer.from(`before. ${SECRET} after`).toString('base64')],
    ['in base64url, shifted twice', Buffer.from(`before.. ${SECRET} after`).toString('base64url')],
    ['in HTML', `<p>Ünlike-5f0e1d2c3b4a/9+x &quot;y&quot;</p>`],
  ])('finds a canary %s', (_, text) => {
    const [leak, ...others] = inPlace(text);
    expect(leak).toMatch(/^API key in log of perks, /);
    for (const each of [leak, ...others]) expect(each).not.toContain(SECRET);
  });

  it('finds nothing in other texts', () => {
    expect(inPlace(JSON.stringify({ key: '[redacted]', other: SECRET.slice(1) }))).toEqual([]);
  });

  it('allows a kind in a place with a right to it, and no other place or kind', () => {
    const rights = [{ kind: 'API key', place: /^keys$/, because: 'of a reason' }];
    const of = (place: string, kind = 'API key') =>
      search([{ place, text: SECRET }], [{ kind, text: SECRET }], rights);
    expect(of('keys')).toEqual([]);
    expect(of('other keys')).not.toEqual([]);
    expect(of('keys', 'person')).not.toEqual([]);
  });

  it('has a reason for every right', () => {
    for (const { because } of RIGHTS) expect(because).toMatch(/^[A-Z].{20,}/);
  });
});

describe('a missing redaction', () => {
  const key = `pk_${'abcd2345'.repeat(4)}`;
  const secret = 'canary-7b1f0c9e8d7a6b5c';
  /** Log lines with a secret, each hidden by a different redaction. */
  const LINES: [what: string, line: object, text: string][] = [
    ['a key in a URL', { url: `/x?api_key=${secret}` }, secret],
    ['a key in headers', { headers: { 'x-api-key': secret } }, secret],
    ['a Bearer token', { note: `sent Bearer ${secret}` }, secret],
    ['a generated key', { note: `it was ${key}` }, key],
    [
      'a key of the console',
      { note: `ck_${'0123456789abcdef'.repeat(4)}` },
      `ck_${'0123456789abcdef'.repeat(4)}`,
    ],
    ['a click token', { path: `/c/${secret}` }, secret],
    ['a reward link token', { reward_link: `https://rewards.test/#${secret}` }, secret],
    ['an encoded fragment', { path: `/%23${secret}` }, secret],
    ['a card', { cardCode: secret, pin: secret }, secret],
    ['a database password', { url: `postgres://links:${secret}@127.0.0.1/perkway` }, secret],
    [
      'a value that Postgres repeats',
      { err: new Error(`invalid input syntax for type uuid: "${secret}"`) },
      secret,
    ],
    [
      'a statement parameter',
      { err: Object.assign(new Error('it failed'), { parameters: [secret], detail: `(code)=(${secret})` }) },
      secret,
    ],
  ];

  it.each(LINES)('reveals: %s', (_, line, text) => {
    const found = (write: (add: (line: string) => void) => void) => {
      const lines: string[] = [];
      write((each) => void lines.push(each));
      return search([{ place: 'log of perks', text: lines.join('') }], [{ kind: 'API key', text }], []);
    };
    expect(found((add) => createLogger('perks', 'info', { write: add }).info(line, 'x'))).toEqual([]);
    const { err, ...rest } = line as { err?: Error };
    const bare = err ? { ...rest, ...err, message: err.message } : rest;
    expect(found((add) => pino({}, { write: add }).info(bare, 'x'))).not.toEqual([]);
  });
});
