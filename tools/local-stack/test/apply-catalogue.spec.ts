import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { applyCatalogue, type ApplyOptions, type Outcome } from '../src/catalogue/apply-catalogue.js';
import { CatalogueError } from '../src/catalogue/catalogue-error.js';

const source = join(__dirname, '../../../examples/demo');
const ADMIN_KEY = 'an-admin-key-of-this-test';

interface Seen {
  method: string;
  path: string;
  key: string;
  contentType: string;
  body: string;
}
interface HttpResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Replaces every host of the management API and records the requests. */
class ManagementHost {
  readonly seen: Seen[] = [];
  /** Reads of existing resources. */
  readonly looked: Seen[] = [];
  look: (call: Seen) => HttpResponse = () => ({ status: 404, body: { code: 'NOT_FOUND' } });
  reply: (call: Seen) => HttpResponse = () => ({});
  /** Closes the connection instead of sending a response. */
  loses: (call: Seen) => boolean = () => false;
  private server: Server;
  private busy = 0;
  mostAtOnce = 0;

  async start(): Promise<string> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      this.busy += 1;
      this.mostAtOnce = Math.max(this.mostAtOnce, this.busy);
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const call: Seen = {
          method: request.method!,
          path: request.url!,
          key: String(request.headers['x-api-key']),
          contentType: String(request.headers['content-type']),
          body: Buffer.concat(chunks).toString(),
        };
        if (this.loses(call)) {
          this.busy -= 1;
          request.socket.destroy();
          return;
        }
        const isLook = call.method === 'GET' && call.path.startsWith('/admin/');
        (isLook ? this.looked : this.seen).push(call);
        const { status = 200, headers = {}, body = {} } = isLook ? this.look(call) : this.reply(call);
        setTimeout(() => {
          this.busy -= 1;
          response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
        }, 2);
      });
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  paths = (method: string): string[] =>
    this.seen.filter((call) => call.method === method).map(({ path }) => path);
}

describe('applyCatalogue', () => {
  let host: ManagementHost;
  let base: string;
  let folder: string;
  let directory: string;

  beforeEach(async () => {
    host = new ManagementHost();
    base = await host.start();
    folder = mkdtempSync(join(tmpdir(), 'perkway-demo-'));
    directory = join(folder, 'demo');
    cpSync(source, directory, { recursive: true });
  });
  afterEach(async () => {
    await host.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const apply = (options: Partial<ApplyOptions> = {}) =>
    applyCatalogue({
      hosts: { token: base, perks: base, boost: base, gift: base },
      adminKey: ADMIN_KEY,
      directory,
      ...options,
    });
  const failure = async (options: Partial<ApplyOptions> = {}): Promise<string> => {
    const error: unknown = await apply(options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CatalogueError);
    return (error as Error).message;
  };
  const change = (file: string, edit: (text: string) => string): void =>
    writeFileSync(join(directory, file), edit(readFileSync(join(directory, file), 'utf8')));

  it("sends everything once, with the ADMIN key, in the order of the hosts' dependencies", async () => {
    const progress: { done: number; total: number }[] = [];
    const { accounts } = await apply({ onProgress: (step) => progress.push(step) });

    expect(new Set(host.seen.map((call) => call.key))).toEqual(new Set([ADMIN_KEY]));
    const puts = host.paths('PUT');
    expect(new Set(puts).size).toBe(puts.length);
    expect(puts.filter((path) => path.startsWith('/admin/perks/')).length).toBeGreaterThanOrEqual(60);
    const order = ['accounts', 'categories', 'perks', 'perk-collections', 'campaigns', 'pools'];
    const arrived = [...new Set(puts.map((path) => path.split('/')[2]!))];
    expect(arrived).toEqual(order);
    const lastPerk = host.seen.map(({ path }) => /^\/admin\/perks\/[^/]+$/.test(path)).lastIndexOf(true);
    const firstCodes = host.seen.findIndex(({ path }) => path.endsWith('/coupon-codes'));
    expect(firstCodes).toBeGreaterThan(lastPerk);
    expect(host.mostAtOnce).toBeLessThanOrEqual(8);

    expect(progress.map(({ done }) => done)).toEqual(host.seen.map((_, index) => index + 1));
    expect(progress.at(-1)!.total).toBe(host.seen.length);
    expect(accounts.map(({ id }) => id)).toEqual(['ostervale-bank', 'workgrove', 'telmoor']);
    expect(accounts[0]).toMatchObject({
      userKey: 'demo-ostervale-bank-user-key-0001',
      collections: ['ostervale-rewards', 'ostervale-travel'],
      campaigns: ['ostervale-spring-travel', 'ostervale-new-account'],
    });
    expect(accounts[0]!.pools).toHaveLength(2);
  });

  it('sends the bodies that the management API documents', async () => {
    await apply();
    const body = (path: string): unknown => JSON.parse(host.seen.find((call) => call.path === path)!.body);

    expect(body('/admin/accounts/telmoor')).toEqual({
      name: 'Telmoor Mobile',
      allowed_origins: ['https://my.telmoor.example'],
      brand: {
        name: 'Telmoor',
        color: '#ffb02e',
        support_url: 'https://www.telmoor.example/help',
        logo: expect.stringMatching(/^data:image\/svg\+xml;base64,[\w+/]+=*$/),
      },
    });
    expect(body('/admin/accounts/telmoor/keys')).toEqual({
      role: 'USER',
      name: 'Imported key',
      key: 'demo-telmoor-user-key-0003',
    });
    expect(body('/admin/categories/1')).toEqual({
      slug: 'travel',
      name: 'Travel & Stays',
      translations: { fr: { name: 'Voyages et séjours' }, de: { name: 'Reisen & Übernachten' } },
    });
    expect(body('/admin/perks/fernway-first-upgrade')).toMatchObject({
      offer_slug: 'fernway-first-class-upgrade-9',
      coupon: 'FIRSTNINE',
      partner: { id: 'fernway', name: 'Fernway Rail' },
      media: {
        banner: 'https://media.fernway.example/perks/first-class.jpg',
        logo: 'https://media.fernway.example/brand/logo.svg',
      },
      locations: [
        { country: 'GB', region: 'England', city: 'London' },
        { country: 'GB', region: 'Scotland', city: 'Edinburgh' },
      ],
    });
    // The bodies contain nothing of our file format: no "file", no id, no "banner" next to "media".
    for (const { body: text, contentType } of host.seen.filter((call) => call.method === 'PUT')) {
      expect(contentType).toBe('application/json');
      expect(Object.keys(JSON.parse(text) as object)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(file|id|banner|logo|text|cards)$/)]),
      );
    }
    expect(body('/admin/perk-collections/ostervale-rewards')).toMatchObject({
      owner: 'ostervale-bank',
      groups: expect.arrayContaining([expect.objectContaining({ name: 'Travel', rank: 2 })]),
    });
    expect(body('/admin/perks/fernway-sleeper/coupon-codes')).toEqual({
      codes: readFileSync(join(directory, 'coupon-codes/fernway-sleeper.txt'), 'utf8').trim().split('\n'),
    });
    const loads = host.seen.filter((call) => call.path.endsWith('/cards'));
    expect(loads.map((call) => call.contentType).sort()).toEqual([
      'application/x-ndjson',
      'text/csv',
      'text/csv',
      'text/csv',
    ]);
    expect(loads.map((call) => call.body)).toContain(
      readFileSync(join(directory, 'cards/ostervale-welcome.csv'), 'utf8'),
    );
  });

  it('skips resources of a missing host', async () => {
    const { accounts } = await apply({ hosts: { token: base, perks: base } });
    expect(host.seen.filter(({ path }) => /campaigns|pools/.test(path))).toEqual([]);
    expect(accounts[0]).toMatchObject({ campaigns: [], pools: [] });
    expect(accounts[0]!.collections).toHaveLength(2);
  });

  it('accepts keys, codes and cards that exist already', async () => {
    host.reply = ({ path }) => {
      if (path.endsWith('/keys')) return { status: 409, body: { code: 'KEY_EXISTS', detail: 'exists' } };
      if (path.endsWith('/coupon-codes')) return { body: { imported: 0, duplicates: 60 } };
      if (path.endsWith('/cards')) return { body: { imported: 0, duplicates: 700, rejected: [] } };
      return {};
    };
    await expect(apply()).resolves.toMatchObject({ accounts: expect.any(Array) });
  });

  it('sends nothing again if nothing changed', async () => {
    const stateFile = join(folder, 'state/demo.json');
    const first = await apply({ stateFile });
    host.seen.length = 0;
    const progress: unknown[] = [];
    expect(await apply({ stateFile, onProgress: (step) => progress.push(step) })).toEqual(first);

    // Only the check that the data still exists.
    expect(host.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /cube/token']);
    expect(progress).toEqual([{ done: 0, total: 0 }]);
    expect(readFileSync(stateFile, 'utf8')).not.toContain('demo-ostervale');
  });

  it('repeats a call whose connection is lost, as an idle one may be at any time', async () => {
    const stateFile = join(folder, 'state/demo.json');
    const lost = new Set<string>();
    const loseOnce = (path: string) => (call: Seen) => {
      if (call.path !== path || lost.has(path)) return false;
      lost.add(path);
      return true;
    };
    host.loses = loseOnce('/admin/accounts/telmoor/keys');
    const first = await apply({ stateFile });
    expect(host.paths('POST').filter((path) => path === '/admin/accounts/telmoor/keys')).toHaveLength(1);
    host.seen.length = 0;
    host.loses = loseOnce('/cube/token');
    expect(await apply({ stateFile })).toEqual(first);
    expect(host.seen.map(({ path }) => path)).toEqual(['/cube/token']);
    expect(lost.size).toBe(2);
  });

  it('sends only to the host whose resources changed', async () => {
    const stateFile = join(folder, 'demo.json');
    await apply({ stateFile });
    host.seen.length = 0;
    change('campaigns.yaml', (text) => text.replace('Mindful March', 'Mindful May'));
    await apply({ stateFile });
    expect(new Set(host.paths('PUT').map((path) => path.split('/')[2]))).toEqual(new Set(['campaigns']));
  });

  it('sends to a host that was missing before', async () => {
    const stateFile = join(folder, 'demo.json');
    await apply({ stateFile, hosts: { token: base, perks: base } });
    host.seen.length = 0;
    await apply({ stateFile });
    expect(new Set(host.paths('PUT').map((path) => path.split('/')[2]))).toEqual(
      new Set(['campaigns', 'pools']),
    );
  });

  it('sends everything again if the database was emptied', async () => {
    const stateFile = join(folder, 'demo.json');
    await apply({ stateFile });
    const calls = host.seen.length;
    host.seen.length = 0;
    host.reply = ({ path }) => (path === '/cube/token' ? { status: 401 } : {});
    await apply({ stateFile });
    expect(host.seen).toHaveLength(calls + 1);
  });

  it('continues after an interruption with the first unfinished host', async () => {
    const stateFile = join(folder, 'demo.json');
    host.reply = ({ path }) => (path.startsWith('/admin/campaigns') ? { status: 500, body: 'broken' } : {});
    await failure({ stateFile });
    host.seen.length = 0;
    host.reply = () => ({});
    await apply({ stateFile });
    expect(new Set(host.paths('PUT').map((path) => path.split('/')[2]))).toEqual(
      new Set(['campaigns', 'pools']),
    );
  });

  it('waits for a host that is not ready yet', async () => {
    let refusals = 2;
    host.reply = ({ path }) =>
      path === '/admin/accounts/telmoor' && refusals-- > 0
        ? { status: 503, headers: { 'Retry-After': '0.01' }, body: { code: 'DEPENDENCY_UNAVAILABLE' } }
        : {};
    await apply({ hosts: { token: base } });
    expect(host.paths('PUT').filter((path) => path === '/admin/accounts/telmoor')).toHaveLength(3);
  });

  it('stops at an error response with the file, the resource and the problem, and skips the next stage', async () => {
    host.reply = ({ path }) =>
      path === '/admin/perks/quillon-alpine-spa'
        ? {
            status: 400,
            body: { code: 'VALIDATION_FAILED', title: 'A title', detail: 'offer_url must be a URL' },
          }
        : {};
    expect(await failure()).toBe(
      'perks/quillon.yaml, perk "quillon-alpine-spa": the host "perks" returned 400 VALIDATION_FAILED: ' +
        'offer_url must be a URL',
    );
    expect(host.paths('PUT').filter((path) => path.startsWith('/admin/perk-collections'))).toEqual([]);
  });

  it('reports a plain-text error response', async () => {
    host.reply = ({ path }) => (path.startsWith('/admin/pools') ? { status: 403, body: 'FORBIDDEN' } : {});
    expect(await failure()).toMatch(
      /^pools\.yaml, pool "[0-9a-f-]{36}": the host "gift" returned 403: FORBIDDEN$/,
    );
  });

  it('stops at a rejected card and names its row', async () => {
    host.reply = ({ path }) =>
      path.endsWith('/cards')
        ? { body: { imported: 1, duplicates: 0, rejected: [{ row: 7, reason: 'CURRENCY_INVALID' }] } }
        : {};
    expect(await failure()).toMatch(/^cards\/[a-z.-]+: the host "gift" rejected row 7: CURRENCY_INVALID$/);
  });

  it('never repeats a key in a problem', async () => {
    host.reply = ({ key, path, body }) =>
      path.endsWith('/keys') ? { status: 400, body: { detail: `no ${key} and no ${body}` } } : {};
    const sentence = await failure();
    expect(sentence).not.toContain(ADMIN_KEY);
    expect(sentence).not.toMatch(/demo-[a-z-]+-user-key/);
    expect(sentence).toContain('***');
  });

  it('names the host that does not respond', async () => {
    expect(await failure({ hosts: { token: base, perks: 'http://127.0.0.1:1' } })).toMatch(
      /^categories\.yaml, category "\d": the host "perks" at http:\/\/127\.0\.0\.1:1 does not respond \(.+\)$/,
    );
  });

  it('sends nothing if the directory is inconsistent', async () => {
    change('perks/fernway.yaml', (text) => text.replace('categories: [1]', 'categories: [42]'));
    expect(await failure()).toBe(
      'perks/fernway.yaml: perk "fernway-weekend" names the unknown category 42, which is neither in the files nor on the host "perks"',
    );
    expect(host.seen).toEqual([]);
  });

  it.each([
    ['campaigns.yaml', 'a: [', /^campaigns\.yaml, row 1: not valid YAML \(/],
    ['accounts.yaml', 'id: one', /^accounts\.yaml: must be a list of maps$/],
  ])('reports %s with the content %j', async (file, text, sentence) => {
    change(file, () => text);
    expect(await failure()).toMatch(sentence);
  });

  it('accepts missing files, but not a directory without any resource', async () => {
    for (const file of ['accounts.yaml', 'collections', 'campaigns.yaml', 'pools.yaml', 'cards'])
      rmSync(join(directory, file), { recursive: true });
    await apply();
    expect(new Set(host.paths('PUT').map((path) => path.split('/')[2]))).toEqual(
      new Set(['categories', 'perks']),
    );
    for (const file of ['categories.yaml', 'perks', 'coupon-codes'])
      rmSync(join(directory, file), { recursive: true });
    expect(await failure()).toMatch(/ has nothing to apply$/);
  });

  it('accepts references to resources on the hosts', async () => {
    rmSync(join(directory, 'categories.yaml'));
    host.look = ({ path }) => (path.startsWith('/admin/categories/') ? {} : { status: 404 });
    await apply();
    expect(host.paths('PUT').some((path) => path.startsWith('/admin/categories/'))).toBe(false);
  });

  it('names every unknown member at any depth before anything is sent', async () => {
    change('categories.yaml', (text) => text.replace('slug: travel', 'slug: travel\n  colour: red'));
    change('collections/telmoor-home.yaml', (text) => text.replace('rank: 1 }', 'rank: 1, note: x }'));
    const error = await apply().catch((thrown: unknown) => thrown);
    expect((error as CatalogueError).problems).toEqual([
      'categories.yaml: "1" of categories has the unknown member colour',
      'collections/telmoor-home.yaml: "telmoor-home" of collections has the unknown member groups.0.perks.0.note',
    ]);
    expect(host.seen).toEqual([]);
  });

  it('reports problems in several files together and sends nothing', async () => {
    change('perks/orvane.yaml', (text) => text.replace(/offer_url: .*/, 'offer_url: javascript:alert(1)'));
    change('campaigns.yaml', (text) => text.replace('- fernway-weekend', '- no-such-perk'));
    const error = await apply().catch((thrown: unknown) => thrown as CatalogueError);
    expect(error).toMatchObject({
      problems: [
        expect.stringContaining('needs an absolute http(s) URL without user or password as offer_url'),
        expect.stringContaining('offers the unknown perk "no-such-perk", which is neither in the files nor'),
      ],
    });
    expect(host.seen).toEqual([]);
  });

  it('requires the hosts of all resources if asked to', async () => {
    expect(await failure({ hosts: { token: base, perks: base, gift: base }, needsAllHosts: true })).toMatch(
      /^campaigns\.yaml, campaign "[a-z-]+": no URL was given for the host "boost"$/,
    );
    expect(host.seen).toEqual([]);
  });

  it('reads perks from CSV', async () => {
    const header =
      'id,title,callout,description,redemption_note,details,offer_url,offer_slug,is_coupon_perk,categories,partner.id,partner.name,media.logo,locations,translations.fr.title';
    writeFileSync(
      join(directory, 'perks/from-a-table.csv'),
      `\ufeff${header}\n` +
        'csv-perk,"Two, for one",,Long,,,https://x.example/,two,,1;2,x,X,https://x.example/l.svg,FR; DE/Berlin/Berlin,Deux\n',
    );
    await apply();
    const sent = host.seen.find(({ path }) => path === '/admin/perks/csv-perk')!;
    expect(JSON.parse(sent.body)).toEqual({
      title: 'Two, for one',
      callout: '',
      description: 'Long',
      redemption_note: '',
      details: '',
      offer_url: 'https://x.example/',
      offer_slug: 'two',
      categories: [1, 2],
      partner: { id: 'x', name: 'X' },
      media: { logo: 'https://x.example/l.svg' },
      locations: [{ country: 'FR' }, { country: 'DE', region: 'Berlin', city: 'Berlin' }],
      translations: { fr: { title: 'Deux' } },
    });
  });

  it('does not let a CSV column reach a prototype', async () => {
    writeFileSync(
      join(directory, 'perks/from-a-table.csv'),
      'id,title,offer_url,offer_slug,partner.id,partner.name,constructor.prototype.polluted,translations.__proto__.title\n' +
        'csv-perk,Two,https://x.example/,two,x,X,yes,yes\n',
    );
    expect(await failure()).toMatch(/row 1: unknown column "constructor\.prototype\.polluted"/);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(({} as { title?: string }).title).toBeUndefined();
  });

  describe('reports the outcome of each resource', () => {
    const outcomes = async (options: Partial<ApplyOptions> = {}): Promise<Map<string, Outcome>> => {
      const found = new Map<string, Outcome>();
      await apply({
        ...options,
        onProgress: ({ outcome }) => outcome && found.set(`${outcome.kind} ${outcome.id}`, outcome),
      });
      return found;
    };
    const pool = '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10';
    const inPool = (available: number, withdrawn = 0, lapsed = 0) => ({
      inventories: [{ available, reserved: 0, redeemed: 0, withdrawn, lapsed }],
    });

    it("from the ETag before and after, and from the hosts' counts of codes and cards", async () => {
      host.look = ({ path }) =>
        path === '/admin/categories/1' || path === '/admin/categories/2'
          ? { headers: { etag: '"before"' } }
          : { status: 404 };
      host.reply = ({ path }) => {
        if (path.endsWith('/keys')) return { status: 409, body: { code: 'KEY_EXISTS' } };
        if (path === '/admin/categories/1') return { headers: { etag: '"before"' } };
        if (path.endsWith('/coupon-codes')) return { body: { imported: 3, duplicates: 1 } };
        if (path === `/admin/pools/${pool}/cards`)
          return { body: { imported: 5, duplicates: 0, rejected: [] } };
        if (path.endsWith('/cards')) return { body: { imported: 0, duplicates: 9, rejected: [] } };
        return { headers: { etag: '"after"' } };
      };
      const found = await outcomes();
      const what = (name: string) => found.get(name)?.what;
      expect(what('category 1')).toBe('unchanged');
      expect(what('category 2')).toBe('changed');
      expect(what('category 3')).toBe('created');
      expect(what('key telmoor')).toBe('unchanged');
      expect(what('codes fernway-sleeper')).toBe('changed');
      expect(what(`cards ${pool}`)).toBe('created');
      expect(what('cards a83f5d07-92e4-4b6c-b1d8-7c04e6f93b32')).toBe('unchanged');
    });

    it('in a dry run, which writes nothing', async () => {
      const stateFile = join(folder, 'demo.json');
      host.look = ({ path }) => {
        if (path === '/admin/categories/1')
          return {
            body: {
              id: 1,
              slug: 'travel',
              name: 'Travel & Stays',
              translations: { de: { name: 'Reisen & Übernachten' }, fr: { name: 'Voyages et séjours' } },
              created_at: 'x',
              updated_at: 'x',
            },
          };
        if (path === '/admin/categories/2')
          return { body: { slug: 'food', name: 'Food & Drink', translations: { it: { name: 'Cibo' } } } };
        if (path === `/admin/pools/${pool}`) return { body: inPool(3) };
        return { status: 404 };
      };
      const found = await outcomes({ isDryRun: true, stateFile });
      expect(host.seen.every(({ method, path }) => method === 'GET' && path === '/cube/token')).toBe(true);
      expect(found.get('category 1')).toMatchObject({ what: 'unchanged', differences: [] });
      expect(found.get('category 2')).toMatchObject({ what: 'changed' });
      expect(found.get('category 2')!.differences).toEqual(
        expect.arrayContaining([
          'slug: "food" -> "food-drink"',
          'translations.it.name: "Cibo" -> nothing',
          'translations.de.name: nothing -> "Essen & Trinken"',
        ]),
      );
      expect(found.get('category 3')).toMatchObject({ what: 'created' });
      expect(found.get(`cards ${pool}`)).toMatchObject({
        what: 'changed',
        differences: [expect.stringMatching(/^\d+ in the file, 3 on the host$/)],
      });
      host.look = ({ path }) =>
        path === `/admin/pools/${pool}` ? { body: inPool(3, 10_000, 2) } : { status: 404 };
      expect((await outcomes({ isDryRun: true })).get(`cards ${pool}`)!.what).toBe('unchanged');
      expect(() => readFileSync(stateFile)).toThrow();
    });
  });
});
