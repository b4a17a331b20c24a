import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { audit } from '@perkway/audit';
import { http, waitFor } from '@perkway/testing';
import pg from 'pg';
import type { LoadCheck, LoadReport, LoadResult, LoadSummary } from '../src/loads/load.dto.js';
import { EUR_25, GiftCards, someCodes } from './support.js';

const CSV = 'text/csv; charset=utf-8';
const HEADER = 'code,pin,denomination,currency,country\n';
const toCsv = (codes: string[]) => HEADER + codes.map((code) => `${code},1,25,EUR,FR\n`).join('');
const toNdjson = (codes: string[]) =>
  codes.map((code) => `${JSON.stringify({ code, ...EUR_25 })}\n`).join('');

describe('card loads', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(async () => {
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    await gift?.close();
    expect(report.output).toContain('Every card is in exactly one place');
  });

  const reportOf = async (pool: string, id: string) =>
    (await gift.get<LoadReport>(`/admin/pools/${pool}/loads/${id}`, gift.admin.key)).body;

  /** Starts a load whose body is written in pieces, which supertest cannot do. */
  const openLoad = (pool: string, { loadId = randomUUID(), apiKey = gift.admin.key } = {}) => {
    const request: ClientRequest = httpRequest(`${gift.app.url}/admin/pools/${pool}/cards?loadId=${loadId}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/x-ndjson' },
    });
    request.on('error', () => undefined);
    const response = new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
    const until = async (isSo: (report: LoadReport) => boolean, what: string) => {
      let report!: LoadReport;
      await waitFor(async () => {
        report = await reportOf(pool, loadId);
        return typeof report === 'object' && isSo(report);
      }, what);
      return report;
    };
    return { request, response, loadId, until };
  };

  it('accept CSV and NDJSON', async () => {
    const pool = await gift.aPool(0);
    const response = await gift.load(pool, toCsv(someCodes(3)), { contentType: CSV });
    expect(response).toMatchObject({ status: 200, body: { imported: 3, duplicates: 0, rejected: [] } });
    expect(Object.keys(response.body)).toEqual(['load_id', 'imported', 'duplicates', 'rejected']);
    await gift.load(pool, toNdjson(someCodes(4)));
    expect(await gift.numbers(pool)).toMatchObject([{ ...EUR_25, available: 7, reserved: 0, redeemed: 0 }]);
    for (const contentType of [CSV, 'application/x-ndjson'])
      expect((await gift.load(pool, '', { contentType })).body).toEqual({
        load_id: expect.any(String),
        imported: 0,
        duplicates: 0,
        rejected: [],
      });
  });

  it('report duplicates and invalid rows with row number and reason', async () => {
    const [one, two] = [await gift.aPool(0), await gift.aPool(0, undefined, gift.newKey().account)];
    const [a, b, c, d] = someCodes(4) as [string, string, string, string];
    await gift.load(one, toNdjson([a]));
    const rows = [
      { code: a, ...EUR_25 },
      { code: b, ...EUR_25 },
      { code: b, ...EUR_25, denomination: 50 },
      { code: '', ...EUR_25 },
      { code: c, ...EUR_25, currency: 'eur' },
      { code: ` ${d} `, ...EUR_25 },
      { code: d.toLowerCase(), ...EUR_25 },
    ];
    const body = rows.map((row) => JSON.stringify(row)).join('\n');
    const response = await gift.load(two, `${body}\nno json\n`);
    const id = response.headers['x-load-id']!;
    expect(response.body).toEqual({
      load_id: id,
      imported: 3,
      duplicates: 2,
      rejected: [
        { row: 4, reason: 'CODE_INVALID' },
        { row: 5, reason: 'CURRENCY_INVALID' },
        { row: 8, reason: 'ROW_INVALID' },
      ],
    });
    expect(await reportOf(two, id)).toEqual({
      id,
      file_name: null,
      state: 'finished',
      started_at: expect.any(String),
      updated_at: expect.any(String),
      rows: 8,
      imported: 3,
      duplicates: 2,
      rejected: 3,
      rejected_rows: response.body.rejected,
      duplicate_rows: [
        { row: 1, reason: 'CODE_DUPLICATE' },
        { row: 3, reason: 'CODE_DUPLICATE' },
      ],
    });
    expect(await gift.load(two, `${body}\nno json\n`)).toMatchObject({
      body: { imported: 0, duplicates: 5 },
    });
  });

  describe('that are only checked', () => {
    const check = (pool: string, body: string, options = {}) =>
      gift.load<LoadCheck>(pool, body, { suffix: '/check', ...options });

    it('say what they would import, and store nothing', async () => {
      const pool = await gift.aPool(0);
      const [a, b, c, d] = someCodes(4) as [string, string, string, string];
      await gift.load(pool, toNdjson([a]));
      const before = [
        await gift.numbers(pool),
        (await gift.get(`/admin/pools/${pool}/loads`, gift.admin.key)).body,
      ];
      const rows = [
        { code: a, ...EUR_25 },
        { code: b, ...EUR_25 },
        { code: b, ...EUR_25, denomination: 50 },
        { code: c, ...EUR_25, currency: 'eur' },
        { code: c, ...EUR_25, valid_until: '2999-12-31' },
        { code: d, ...EUR_25 },
      ];
      const body = `${rows.map((row) => JSON.stringify(row)).join('\n')}\nno json\n`;
      // Calls that are not in the audit log work without its outbox.
      await gift.database.query('alter table admin_log_outbox rename to missing');
      const response = await check(pool, body).finally(() =>
        gift.database.query('alter table missing rename to admin_log_outbox'),
      );
      expect(response).toMatchObject({ status: 200 });
      expect(response.body).toEqual({
        rows: 7,
        importable: 3,
        duplicates: 2,
        rejected: 2,
        rejected_rows: [
          { row: 4, reason: 'CURRENCY_INVALID' },
          { row: 7, reason: 'ROW_INVALID' },
        ],
        duplicate_rows: [
          { row: 1, reason: 'CODE_DUPLICATE' },
          { row: 3, reason: 'CODE_DUPLICATE' },
        ],
        complete: true,
        values: [
          { ...EUR_25, valid_until: null, cards: 2 },
          { ...EUR_25, valid_until: '2999-12-31', cards: 1 },
        ],
      });
      expect([
        await gift.numbers(pool),
        (await gift.get(`/admin/pools/${pool}/loads`, gift.admin.key)).body,
      ]).toEqual(before);
      expect((await gift.load(pool, body)).body).toMatchObject({ imported: 3, duplicates: 2 });
    });

    it('find a code that occurs twice far apart, and stop after 100,000 rows', async () => {
      const pool = await gift.aPool(0);
      const codes = someCodes(99_999);
      const whole = await check(pool, toCsv([...codes, codes[0]!]), { contentType: CSV });
      expect(whole.body).toMatchObject({
        rows: 100_000,
        importable: 99_999,
        duplicate_rows: [{ row: 100_000, reason: 'CODE_DUPLICATE' }],
        complete: true,
      });
      const longer = await check(pool, toCsv([...codes, ...someCodes(2)]), { contentType: CSV });
      expect(longer.body).toMatchObject({ rows: 100_000, importable: 100_000, complete: false });
    });

    it('reject what a load rejects', async () => {
      const pool = await gift.aPool(0);
      const rows = toNdjson(someCodes(1));
      for (const [id, options, status, code] of [
        [randomUUID(), {}, 404, 'POOL_NOT_FOUND'],
        [pool, { contentType: 'application/json' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
        [pool, { apiKey: gift.user.key }, 403, 'FORBIDDEN'],
      ] as const)
        expect(await check(id, rows, options)).toMatchObject({ status, body: { code } });
      const response = await check(pool, 'code,pin\nA,1\n', { contentType: CSV });
      expect(response).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    });
  });

  it('import the first of several rows with the same code', async () => {
    const pool = await gift.aPool(0);
    const codes = someCodes(990);
    const dear = codes.map((code) => `${JSON.stringify({ code, ...EUR_25, denomination: 50 })}\n`).join('');
    expect((await gift.load(pool, toNdjson(codes) + dear)).body).toMatchObject({
      imported: 990,
      duplicates: 990,
    });
    expect(await gift.numbers(pool)).toMatchObject([{ denomination: 25, available: 990 }]);
  });

  it('list the first 1,000 invalid rows and count the others', async () => {
    const pool = await gift.aPool(0);
    const codes = someCodes(2_500);
    await gift.load(pool, toNdjson(codes));
    const { body, headers } = await gift.load<LoadResult>(pool, toNdjson(codes) + '{}\n'.repeat(2_500));
    expect(body).toMatchObject({ imported: 0, duplicates: 2_500, rejected_total: 2_500 });
    expect(body.rejected).toHaveLength(1_000);
    expect(body.rejected[999]).toEqual({ row: 3_500, reason: 'CODE_INVALID' });
    const report = await reportOf(pool, headers['x-load-id']!);
    expect(report).toMatchObject({ rows: 5_000, duplicates: 2_500, rejected: 2_500 });
    expect(report.rejected_rows).toEqual(body.rejected);
    expect(report.duplicate_rows).toHaveLength(1_000);
    expect(report.duplicate_rows[999]).toEqual({ row: 1_000, reason: 'CODE_DUPLICATE' });
  });

  it('import every card once if two load the same file concurrently', async () => {
    const pool = await gift.aPool(0);
    const codes = someCodes(6_000);
    const responses = await Promise.all([
      gift.load(pool, toNdjson(codes)),
      gift.load(pool, toCsv([...codes].reverse()), { contentType: CSV }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(responses[0]!.body.imported + responses[1]!.body.imported).toBe(6_000);
    expect(responses[0]!.body.duplicates + responses[1]!.body.duplicates).toBe(6_000);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 6_000 }]);
  });

  it('show their progress in complete batches', async () => {
    const pool = await gift.aPool(0);
    const load = openLoad(pool);
    load.request.write(toNdjson(someCodes(4_500)));
    const report = await load.until(({ rows }) => rows >= 4_000, 'two batches');
    expect(report).toMatchObject({ state: 'running', rows: 4_000, imported: 4_000 });
    expect(await gift.numbers(pool)).toMatchObject([{ available: 4_000 }]);
    const list = await gift.get<LoadSummary[]>(`/admin/pools/${pool}/loads`, gift.admin.key);
    expect(list.body).toMatchObject([{ id: load.loadId, file_name: null, state: 'running', rows: 4_000 }]);
    load.request.end();
    expect((await load.response).statusCode).toBe(200);
    expect(await reportOf(pool, load.loadId)).toMatchObject({
      state: 'finished',
      rows: 4_500,
      imported: 4_500,
    });
  });

  it('keep complete batches of a cut connection, and the file can be sent again', async () => {
    const pool = await gift.aPool(0);
    const codes = someCodes(5_000);
    const load = openLoad(pool);
    load.request.write(toNdjson(codes).slice(0, -10));
    await load.until(({ rows }) => rows >= 4_000, 'two batches');
    load.request.destroy();
    const report = await load.until(({ state }) => state === 'failed', 'the failed state');
    expect(report).toMatchObject({ rows: 4_000, imported: 4_000 });
    expect(await gift.numbers(pool)).toMatchObject([{ available: 4_000 }]);
    expect((await gift.load(pool, toNdjson(codes))).body).toEqual({
      load_id: expect.any(String),
      imported: 1_000,
      duplicates: 4_000,
      rejected: [],
    });
  });

  it('respond with 503 after a database failure even if the client reads only once it has sent everything', async () => {
    const pool = await gift.aPool(0);
    const codes = someCodes(20_000);
    const blocker = new pg.Client(gift.database.url);
    await blocker.connect();
    // A busy machine may need longer than the role may be idle.
    await blocker.query('set idle_in_transaction_session_timeout = 0');
    await blocker.query('begin');
    await blocker.query('lock table cards in share mode');
    const { hostname, port } = new URL(gift.app.url);
    // A raw socket, because any HTTP client would read.
    const socket = connect(Number(port), hostname).pause();
    const send = (text: string) =>
      new Promise<void>((resolve, reject) =>
        socket.write(`${text.length.toString(16)}\r\n${text}\r\n`, (error) =>
          error ? reject(error) : resolve(),
        ),
      );
    socket.write(
      `POST /admin/pools/${pool}/cards HTTP/1.1\r\nhost: x\r\nx-api-key: ${gift.admin.key}\r\n` +
        'content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    await send(toNdjson(codes.slice(0, 2_100)));
    await waitFor(async () => {
      const rows = await gift.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into cards%'`,
      );
      return rows.length > 0;
    }, 'an insert that waits for the lock');
    await blocker.end();
    for (let round = 0; round < 100; round += 1) await send(toNdjson(codes.slice(2_100, 4_100)));
    socket.write('0\r\n\r\n');
    const [response] = (await once(socket.resume(), 'data')) as [Buffer];
    socket.destroy();
    expect(String(response)).toMatch(/^HTTP\/1.1 503 [^]*retry-after/i);
  });

  it('reject CSV rows with an unbalanced quote, and load the others', async () => {
    const pool = await gift.aPool(0);
    const rows = toCsv(someCodes(5_000)).split('\n');
    for (const row of [2_001, 2_004]) rows[row] = `"${rows[row]}`;
    const { body } = await gift.load(pool, rows.join('\n'), { contentType: CSV });
    const reason = 'ROW_INVALID';
    expect(body).toMatchObject({
      imported: 4_998,
      rejected: [
        { row: 2_001, reason },
        { row: 2_004, reason },
      ],
    });
    expect(await gift.load<object>(pool, 'code\n', { contentType: CSV })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    });
  });

  it('fail if the body is not valid HTTP', async () => {
    const pool = await gift.aPool(0);
    const loadId = randomUUID();
    const { hostname, port } = new URL(gift.app.url);
    // A raw socket, because no HTTP client would send this.
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /admin/pools/${pool}/cards?loadId=${loadId} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gift.admin.key}\r\n` +
        `content-type: text/csv\r\ntransfer-encoding: chunked\r\n\r\n27\r\n${HEADER}\r\nzz\r\n`,
    );
    await waitFor(async () => (await reportOf(pool, loadId)).state === 'failed', 'the failed state');
    socket.destroy();
  });

  it('authenticate before reading the body', async () => {
    const pool = await gift.aPool(0);
    for (const [apiKey, status] of [
      [gift.user.key, 403],
      ['unknown-key-0000', 401],
    ] as const) {
      const load = openLoad(pool, { apiKey });
      load.request.write('{"code":');
      expect((await load.response).statusCode).toBe(status);
      load.request.destroy();
    }
    const own = await gift.aPool(0, EUR_25, gift.admin.account);
    expect((await gift.load(own, toNdjson(someCodes(1)))).status).toBe(200);
  });

  it('reject invalid content types, encodings, pools and load ids', async () => {
    const pool = await gift.aPool(0);
    const status = async (path: string, headers: Record<string, string>, body = '{}') => {
      const response = await http(gift.app, gift.admin).post(`/admin/pools/${path}`).set(headers).send(body);
      return `${response.status} ${response.body.code}`;
    };
    const ndjson = { 'content-type': 'application/x-ndjson' };
    for (const type of ['application/json', 'text/plain', 'application/xml'])
      expect(await status(`${pool}/cards`, { 'content-type': type })).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    expect(await status(`${pool}/cards`, { ...ndjson, 'content-encoding': 'gzip' })).toBe(
      '415 UNSUPPORTED_MEDIA_TYPE',
    );
    for (const id of [randomUUID(), 'x'])
      expect(await status(`${id}/cards`, ndjson)).toBe('404 POOL_NOT_FOUND');
    expect(await status(`${pool}/cards?loadId=7`, ndjson)).toBe('400 VALIDATION_FAILED');
    const loadId = randomUUID();
    const suffix = `?loadId=${loadId}&fileName=${encodeURIComponent('é.csv')}`;
    expect((await gift.load(pool, '', { suffix })).headers['x-load-id']).toBe(loadId);
    expect(await reportOf(pool, loadId)).toMatchObject({ file_name: 'é.csv' });
    for (const name of ['x'.repeat(256), '%00'])
      expect(await status(`${pool}/cards?fileName=${name}`, ndjson)).toBe('400 VALIDATION_FAILED');
    expect(await status(`${pool}/cards?loadId=${loadId}`, ndjson)).toBe('400 VALIDATION_FAILED');

    const elsewhere = await gift.aPool(0);
    for (const path of [`${elsewhere}/loads/${loadId}`, `${pool}/loads/${randomUUID()}`, `${pool}/loads/x`])
      expect(await gift.get(`/admin/pools/${path}`, gift.admin.key)).toMatchObject({
        status: 404,
        body: { code: 'LOAD_NOT_FOUND' },
      });
    for (const path of [`${randomUUID()}/loads`, 'x/loads', `x/loads/${loadId}`])
      expect(await gift.get(`/admin/pools/${path}`, gift.admin.key)).toMatchObject({
        status: 404,
        body: { code: 'POOL_NOT_FOUND' },
      });
    expect((await gift.get(`/admin/pools/${pool}/loads`)).status).toBe(403);
  });

  it('read 100,000 rows in constant memory while other requests are served', async () => {
    const pool = await gift.aPool(1);
    const prefix = someCodes(1)[0]!;
    const rows = 100_000;
    const peak = { heap: 0 };
    const started = process.memoryUsage().heapUsed;
    const body = Readable.from(
      (function* () {
        for (let from = 0; from < rows; from += 500) {
          peak.heap = Math.max(peak.heap, process.memoryUsage().heapUsed - started);
          yield toNdjson(Array.from({ length: 500 }, (_, index) => `${prefix}-${from + index}`));
        }
      })(),
    );
    let isLoading = true;
    const load = openLoad(pool);
    const loading = pipeline(body, load.request)
      .then(() => load.response)
      .finally(() => (isLoading = false));
    let sums = 0;
    while (isLoading) {
      const [entry] = await gift.numbers(pool);
      expect((entry!.available - 1) % 2_000).toBe(0);
      sums += 1;
      await sleep(20);
    }
    const response = await loading;
    expect([response.statusCode, await json(response)]).toEqual([
      200,
      { load_id: expect.any(String), imported: rows, duplicates: 0, rejected: [] },
    ]);
    expect(sums).toBeGreaterThan(5);
    // The rows are 7 MB of text; client, app and test share the heap.
    expect(peak.heap).toBeLessThan(150 * 1024 * 1024);
  });
});
