import fc, { type Arbitrary } from 'fast-check';
import type { Operation, Parameter, Schema } from './document.js';
import { HOSTILITIES, hostileText, nested, toJson, Values, type Hostility, type Known } from './values.js';

export interface FuzzRequest {
  bytes: Buffer;
  hangsUp: boolean;
  isHead: boolean;
  /** The called operation; undefined if no operation matches the URL and method, or the request is unreadable. */
  operation?: Operation;
  /** Whether it is valid HTTP that a server must read and accept. */
  isSound: boolean;
  /** The path as sent. */
  path: string;
}

/** Headers that authenticate a caller; empty for none. */
export type Credential = readonly (readonly [name: string, value: string])[];

export interface Target {
  operations: Operation[];
  schemas: Record<string, Schema>;
  known: Known;
  /** Known values for operations that change or delete, without those that the run needs. */
  expendable: Known;
  /** The first one is for most operations, the second one for those below /admin. */
  credentials: readonly Credential[];
  /** Credentials for operations that end them; absent if no operation does. */
  endedBy?: { path: string; credentials: readonly Credential[] };
  /** The host's own origin, which its pages send. */
  origin: string;
}

/** Node's default limit, which the servers use. */
const MAX_HEAD = 16 * 1024;
const MAX_BODY = 1024 * 1024;

type Pair = readonly [name: string, value: string];
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
/** Handles lone surrogates too. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());
const asText = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/^@raw:/, '') : toJson(value);

/** Encodings of a query parameter. All but the first are wrong or unusual. */
const WRITINGS: readonly ((name: string, value: string) => string)[] = [
  (name, value) => `${encode(name)}=${encode(value)}`,
  (name, value) => `${encode(name)}=${encode(value)}&${encode(name)}=${encode(value)}x`,
  (name, value) => `${encode(name)}[]=${encode(value)}&${encode(name)}[]=1`,
  (name, value) => `${encode(name)}[a][b]=${encode(value)}`,
  (name, value) => `${encode(name)}[__proto__][x]=${encode(value)}&__proto__=1&constructor=2`,
  (name, value) => `${encode(name)}=${encode(encode(value))}`,
  (name, value) => `${encode(name)}=${encode(value)}%`,
  (name, value) => `${encode(name)}=%zz${encode(value)}`,
  (name, value) => `${encode(name)}=%c0%80${encode(value)}`,
  (name, value) => `${encode(name)}=%ed%a0%80${encode(value)}%ff`,
  (name, value) => `${encode(name)}=%00${encode(value)}`,
  (name, value) => `${encode(name)}=${utf8(value).replace(/[\0- #&\x7f]/g, '+')}`,
  (name) => encode(name),
  (name, value) => `${encode(name)}==${encode(value)};&&&`,
  (name) => `${encode(name)}=1&`.repeat(1_500),
  // Attribute names that anybody can make up.
  (name, value) =>
    [`${encode(name)}=${encode(value)}`, ...Array.from({ length: 250 }, (_, i) => `cmeta_fuzz_${i}=x`)].join(
      '&',
    ),
];

const writing = (hostility: Hostility) =>
  fc
    .nat({ max: 99 })
    .chain((chance) => (chance < hostility ? fc.nat({ max: WRITINGS.length - 1 }) : fc.constant(0)));

/** Omits required values only in hostile requests. */
const omittable = <T>(arbitrary: Arbitrary<T>, isRequired: boolean, hostility: Hostility) =>
  isRequired && hostility <= 5
    ? arbitrary
    : fc.option(arbitrary, { nil: undefined, freq: isRequired ? 12 : 3 });

/** Removes bytes that a header may not contain. */
const headerSafe = (text: string): string => utf8(text).replace(/[^\t -~\x80-\xff]/g, '');

const COMMON_HEADERS: Record<string, readonly string[]> = {
  accept: ['*/*', 'text/html', 'application/json', 'text/csv', 'image/*;q=0.1', ';;;', ',', 'a/b;q=2'],
  'accept-language': ['fr', 'de-AT,en;q=0.5', '*', 'xx', ',,,;q=', 'fr;q=NaN', 'a'.repeat(500)],
  'accept-encoding': ['gzip', 'br, gzip;q=0', 'identity;q=0', '*;q=0'],
  'x-request-id': ['fuzz', 'a'.repeat(100), 'a'.repeat(101), '<b>', ''],
  'if-none-match': ['*', 'W/"a"', '"', 'a', '"a", "b"'],
  'if-match': ['*', 'W/"a"', '"a"', '"', ''],
  'x-forwarded-for': ['::1', '::ffff:1.2.3.4', '999.1.1.1', ',', '[::1]:80', 'unknown', '1.2.3.4:99999'],
  'x-forwarded-proto': ['https', 'javascript'],
  'user-agent': ['Mozilla/5.0 (Windows NT 10.0) Firefox/145.0', 'Googlebot/2.1', '', '('.repeat(3_000)],
  origin: ['null', 'https://app.ostervale-bank.example', 'http://evil.example', 'a', ''],
  cookie: ['a', 'perkway_session=x', '=;=;', '__proto__=1; constructor=2', 'a='.repeat(900)],
  referer: ['', 'x'],
  range: ['bytes=0-1', 'bytes=-1', 'bytes=9-1,5-'],
  expect: ['100-continue'],
  'sec-fetch-mode': ['navigate'],
  purpose: ['prefetch'],
  'x-http-method-override': ['DELETE'],
  connection: ['close', 'keep-alive', 'content-length'],
};

const commonHeaders: Arbitrary<Pair[]> = fc.array(
  fc.constantFrom(...Object.keys(COMMON_HEADERS)).chain((name) =>
    fc
      .oneof(
        { weight: 4, arbitrary: fc.constantFrom(...COMMON_HEADERS[name]!) },
        {
          weight: 1,
          arbitrary: name === 'connection' || name === 'expect' ? fc.constant('close') : hostileText,
        },
      )
      .map((value): Pair => [name, headerSafe(value)]),
  ),
  { maxLength: 3 },
);

const CONTENT_TYPES = [
  'application/json; charset=utf-8',
  'application/json;charset=utf-16',
  'APPLICATION/JSON',
  'application/json, text/plain',
  'text/plain',
  'text/csv',
  'application/xml',
  'application/x-ndjson',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/problem+json',
  'json',
  '/',
  ';',
  '',
  'a'.repeat(2_000),
];

/** Corrupts a body: truncated, extended or changed. */
const spoiled = (body: Buffer): Arbitrary<Buffer> =>
  fc.oneof(
    fc.nat({ max: Math.max(0, body.length - 1) }).map((at) => body.subarray(0, at)),
    fc
      .tuple(
        fc.nat({ max: body.length }),
        fc.constantFrom('ff', 'c080', 'eda080', '00', 'efbbbf', '22', '5c'),
      )
      .map(([at, hex]) => Buffer.concat([body.subarray(0, at), Buffer.from(hex, 'hex'), body.subarray(at)])),
    fc.constantFrom(
      Buffer.from(body.toString(), 'utf16le'),
      Buffer.concat([body, body]),
      Buffer.from(`{"a":1,"a":2,${body.subarray(1).toString()}`),
    ),
    fc.constantFrom(50, 101, 20_000, 200_000).map((depth) => Buffer.from(nested(depth))),
    fc.constantFrom(20_000).map((depth) => Buffer.from('{"a":'.repeat(depth))),
    fc
      .constantFrom(
        '',
        'null',
        '1',
        '"a"',
        '[]',
        '[{}]',
        '{',
        '{}',
        'NaN',
        '\0',
        '{"__proto__":{}}',
        'true',
        "{'a':1}",
      )
      .map((text) => Buffer.from(text)),
  );

const huge = fc
  .constantFrom(MAX_BODY - 100, MAX_BODY + 1, 2 * MAX_BODY)
  .map((length) => Buffer.from(`{"a":"${'a'.repeat(length)}"}`));

interface Draft {
  method: string;
  target: string;
  headers: Pair[];
  body: Buffer | null;
}

/** Returns the correct head, with the length of a body. */
function headOf({ method, target, headers, body }: Draft): string {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  if (body) lines.push(`content-length: ${body.length}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const join = (head: string, body: Buffer | null) =>
  Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]);

const chunked = (draft: Draft, text: string): Buffer =>
  Buffer.from(
    headOf({ ...draft, body: null, headers: [...draft.headers, ['transfer-encoding', 'chunked']] }) + text,
    'latin1',
  );

const withHead = (draft: Draft, change: (head: string) => string): Buffer =>
  join(change(headOf(draft)), draft.body);
const afterFirstLine = (line: string) => (head: string) => head.replace('\r\n', () => `\r\n${line}\r\n`);
const firstLine = (of: (method: string, target: string) => string) => (head: string) =>
  head.replace(/^(\S*) (.*) HTTP\/1\.1/, (_, method: string, target: string) => of(method, target));

/** Invalid or unusual HTTP. Our half of the connection is closed after each request. */
const BREAKAGES: readonly ((draft: Draft) => Buffer)[] = [
  (draft) => withHead(draft, afterFirstLine('host: other.example')),
  (draft) => withHead(draft, (head) => head.replace(/^host: .*\r\n/im, '')),
  (draft) => withHead(draft, afterFirstLine('content-length: 5\r\ncontent-length: 6')),
  (draft) => withHead(draft, afterFirstLine('content-length: -1')),
  (draft) => withHead(draft, afterFirstLine('content-length: 1e3')),
  (draft) => withHead(draft, afterFirstLine('transfer-encoding: chunked\r\ncontent-length: 3')),
  (draft) => withHead(draft, afterFirstLine('transfer-encoding: gzip, chunked')),
  (draft) => withHead(draft, afterFirstLine('transfer-encoding: chunked, identity')),
  (draft) => withHead(draft, afterFirstLine('content-type: application/json\r\ncontent-type: text/plain')),
  (draft) => withHead(draft, afterFirstLine('x-api-key: a\r\nx-api-key: b')),
  (draft) => withHead(draft, afterFirstLine('authorization: Bearer a\r\nauthorization: b')),
  (draft) => withHead(draft, afterFirstLine('x-a : b')),
  (draft) => withHead(draft, afterFirstLine(' folded: b')),
  (draft) => withHead(draft, afterFirstLine('x-a: b\r\n c')),
  (draft) => withHead(draft, afterFirstLine('x-a: b\0c')),
  (draft) => withHead(draft, afterFirstLine(': nameless')),
  (draft) => withHead(draft, afterFirstLine('x-é: b')),
  (draft) => withHead(draft, afterFirstLine(`x-a: ${'a'.repeat(MAX_HEAD)}`)),
  (draft) => withHead(draft, afterFirstLine('x-a: b\r\n'.repeat(2_100).trimEnd())),
  (draft) => withHead(draft, afterFirstLine('expect: something-else')),
  (draft) => withHead(draft, afterFirstLine('upgrade: websocket\r\nconnection: upgrade')),
  (draft) => withHead(draft, afterFirstLine('upgrade: h2c\r\nconnection: upgrade, http2-settings')),
  (draft) => withHead(draft, afterFirstLine('content-encoding: gzip')),
  (draft) => withHead(draft, (head) => head.replaceAll('\r\n', '\n')),
  (draft) => withHead(draft, (head) => head.replaceAll('\r\n', '\r')),
  (draft) =>
    withHead(
      draft,
      firstLine((method, target) => `${method.toLowerCase()} ${target} HTTP/1.1`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((_, target) => `FUZZ ${target} HTTP/1.1`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((method, target) => `${method} ${target} HTTP/9.9`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((method, target) => `${method} ${target} HTTP/1.0`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((method, target) => `${method} ${target}`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((method, target) => `${method} http://other.example${target} HTTP/1.1`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((method) => `${method} * HTTP/1.1`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((method, target) => `${method} ${target.slice(1)} HTTP/1.1`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((method, target) => `${method} /${target} HTTP/1.1`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine((method, target) => `${method} ${target}${'a'.repeat(MAX_HEAD)} HTTP/1.1`),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine(() => 'CONNECT 127.0.0.1:22 HTTP/1.1'),
    ),
  (draft) =>
    withHead(
      draft,
      firstLine(() => 'PRI * HTTP/2.0'),
    ),
  (draft) => withHead(draft, (head) => head.slice(0, head.length / 2)),
  (draft) => chunked(draft, '5\r\n{"a":1}\r\n0\r\n\r\n'),
  (draft) => chunked(draft, 'zz\r\n{}\r\n0\r\n\r\n'),
  (draft) => chunked(draft, 'ffffffffffffffff\r\n{}\r\n0\r\n\r\n'),
  (draft) => chunked(draft, `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  (draft) => chunked(draft, '2\r\n{}\r\n0\r\nx-trailer: 1\r\n\r\n'),
  (draft) => chunked(draft, '2\r\n{}\r\n'),
  (draft) => chunked(draft, ''),
  (draft) =>
    join(`${headOf({ ...draft, body: null }).slice(0, -2)}content-length: 500\r\n\r\n`, Buffer.from('{"a":')),
  () => Buffer.from('\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', 'latin1'),
  () => Buffer.from('\0'.repeat(100)),
  () => Buffer.from('\r\n\r\n\r\n'),
  () => Buffer.from('GET\r\n\r\n'),
];

const OTHER_METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
];

/** Returns true for a path segment without special meaning. */
const isPlain = (segment: string): boolean =>
  !/^$|^\.\.?$|%(?![0-9a-f]{2})|%2f|%5c|[/?#;]/i.test(segment) && isUtf8(segment);
const isUtf8 = (segment: string): boolean => {
  try {
    return decodeURIComponent(segment) !== undefined;
  } catch {
    return false;
  }
};

/** Generates requests for one host, many of which pass the first check. */
export function requestsFor(target: Target): Arbitrary<FuzzRequest> {
  const kinds = target.operations.flatMap((operation) =>
    HOSTILITIES.map((hostility) => {
      const own = requestOf(target, operation, hostility, operation.method);
      if (hostility === 0) return own;
      const others = OTHER_METHODS.map((method) => requestOf(target, operation, hostility, method));
      return fc.oneof(
        { weight: 100, arbitrary: own },
        { weight: Math.ceil(hostility / 5), arbitrary: fc.oneof(...others) },
      );
    }),
  );
  return fc.oneof(...kinds);
}

function requestOf(
  target: Target,
  operation: Operation,
  hostility: Hostility,
  method: string,
): Arbitrary<FuzzRequest> {
  const known = ['GET', 'HEAD'].includes(method) ? target.known : target.expendable;
  const values = new Values(target.schemas, known);
  const { parameters, path } = operation;
  const placed = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place);

  const segments = fc.record(
    Object.fromEntries(
      placed('path').map(({ name, schema = {}, example }) => [
        name,
        fc
          .tuple(
            values.of({ example, ...schema }, hostility, name),
            fc.nat({ max: 99 }),
            fc.constantFrom(
              '',
              '%',
              '%zz',
              '%00',
              '%c0%af',
              '%2f',
              '%2e%2e',
              '?',
              '#',
              ';a',
              'a'.repeat(17_000),
            ),
          )
          .map(([value, chance, tail]) => encode(asText(value)) + (chance < hostility / 3 ? tail : '')),
      ]),
    ),
  );

  const query = fc
    .tuple(
      ...placed('query').map(({ name, schema = {}, required, example }) =>
        omittable(
          fc.tuple(
            queryValue(values, target.schemas, name, { example, ...schema }, hostility),
            writing(hostility),
          ),
          required === true,
          hostility,
        ).map((drawn) => drawn && WRITINGS[drawn[1]]!(name.replace('*', 'segment'), asText(drawn[0]))),
      ),
      hostility > 5
        ? fc.option(
            fc.tuple(hostileText, hostileText).map(([name, value]) => WRITINGS[0]!(name, value)),
            {
              nil: undefined,
            },
          )
        : fc.constant(undefined),
    )
    .map((pieces) => pieces.filter((piece) => piece !== undefined).join('&'));

  const ownHeaders = fc
    .tuple(
      ...placed('header').map(({ name, schema = {}, required, example }) =>
        omittable(values.of({ example, ...schema }, hostility, name), required === true, hostility).map(
          (value) => (value === undefined ? undefined : ([name, headerSafe(asText(value))] as Pair)),
        ),
      ),
    )
    .map((pairs) => pairs.filter((pair) => pair !== undefined));

  const { endedBy } = target;
  const endsIt = endedBy?.path === path && operation.method !== 'GET';
  const credentials = endsIt ? endedBy.credentials : target.credentials;
  const fitting = credentials[path.includes('/admin/') ? 1 : 0] ?? [];
  const credential = operation.isKeyed
    ? fc.oneof(
        { weight: 8, arbitrary: fc.constant(fitting) },
        { weight: 2, arbitrary: fc.constantFrom(...credentials) },
      )
    : fc.constantFrom<Credential>([], fitting);

  return fc
    .record({
      segments,
      query,
      ownHeaders,
      credential,
      common: hostility === 0 ? fc.constant<Pair[]>([]) : commonHeaders,
      body: bodyOf(operation, values, hostility, target.schemas.Query !== undefined),
      source: fc.oneof(fc.ipV4(), fc.ipV6()),
      hasOrigin: fc.nat({ max: 9 }).map((chance) => chance > 0),
      breakage: fc
        .nat({ max: 99 })
        .chain((chance) => (chance * 2 < hostility ? fc.constantFrom(...BREAKAGES) : fc.constant(undefined))),
    })
    .map((drawn): FuzzRequest => {
      const { credential, ownHeaders, common, source, hasOrigin, breakage } = drawn;
      const written = path.replace(/\{(\w+)\}/g, (_, name: string) => drawn.segments[name] ?? '');
      const headers: Pair[] = [
        ['host', 'localhost'],
        // A random address, so that limits per address do not end the run.
        ...(common.some(([name]) => name === 'x-forwarded-for') ? [] : [['x-forwarded-for', source] as Pair]),
        ...credential,
        ...(hasOrigin && !common.some(([name]) => name === 'origin')
          ? [['origin', target.origin] as Pair]
          : []),
        ...ownHeaders,
        ...common,
      ];
      if (drawn.body?.type !== undefined && drawn.body.type !== null)
        headers.push(['content-type', drawn.body.type]);
      const draft: Draft = {
        method,
        target: drawn.query === '' ? written : `${written}?${drawn.query}`,
        headers,
        body: drawn.body?.bytes ?? null,
      };
      const head = headOf(draft);
      // Node accepts no other bytes in a URL.
      const isReadable = head.length < MAX_HEAD - 512 && /^[!-~]+$/.test(draft.target);
      const isRouted =
        Object.values(drawn.segments).every(isPlain) &&
        (method === operation.method || (method === 'HEAD' && operation.method === 'GET'));
      const isSmall = (draft.body?.length ?? 0) <= MAX_BODY;
      return {
        bytes: breakage ? breakage(draft) : join(head, draft.body),
        hangsUp: breakage !== undefined,
        isHead: method === 'HEAD',
        operation: isRouted && isReadable && !breakage ? operation : undefined,
        isSound: isReadable && isSmall && !breakage,
        path: written,
      };
    });
}

/** Analytics queries as large as the limits of the query host allow, or just past them. */
const largestQuery = fc
  .record({
    values: fc.constantFrom(5_000, 19_000, 36_000),
    member: fc.constantFrom('perk_clicks.occurred_at', 'perk_clicks.perk_id'),
    operator: fc.constantFrom('equals', 'notEquals', 'contains', 'beforeDate'),
    ranges: fc.constantFrom(1, 10, 50),
  })
  .map(({ values, member, operator, ranges }) => ({
    measures: ['perk_clicks.count'],
    filters: [
      {
        member,
        operator,
        values: Array.from({ length: values }, (_, second) =>
          new Date(second * 1_000).toISOString().slice(0, 19),
        ),
      },
    ],
    timeDimensions: [
      {
        dimension: 'perk_clicks.occurred_at',
        granularity: 'day',
        compareDateRange: Array.from({ length: ranges }, (_, days) => `from ${days + 2} days ago to now`),
      },
    ],
  }));

/** Generates the value of a parameter. An analytics query in JSON is generated like a body. */
function queryValue(
  values: Values,
  schemas: Record<string, Schema>,
  name: string,
  schema: Schema,
  hostility: Hostility,
): Arbitrary<unknown> {
  const plain = values.of(schema, hostility, name);
  const query = schemas.Query;
  if (name !== 'query' || !query) return plain;
  return fc.oneof(
    { weight: 1, arbitrary: plain },
    { weight: 4, arbitrary: values.of(query, hostility, 'query').map(toJson) },
    { weight: 1, arbitrary: largestQuery.map(toJson) },
    { weight: 1, arbitrary: fc.array(values.of(query, hostility, 'query'), { maxLength: 4 }).map(toJson) },
  );
}

interface Body {
  /** Null: no content-type header. */
  type: string | null;
  bytes: Buffer;
}

function bodyOf(
  operation: Operation,
  values: Values,
  hostility: Hostility,
  takesQueries: boolean,
): Arbitrary<Body | undefined> {
  const stray = fc.constant<Body>({ type: 'application/json', bytes: Buffer.from('{"a":1}') });
  if (!operation.body)
    return hostility < 15 ? fc.constant(undefined) : fc.option(stray, { nil: undefined, freq: 8 });
  const wellFormed = fc.oneof(
    ...Object.entries(operation.body).map(([type, { schema, examples }]) =>
      fc
        .oneof(
          ...(type === 'application/json'
            ? [
                { weight: 8, arbitrary: values.of(schema, hostility).map(toJson) },
                ...(takesQueries
                  ? [{ weight: 1, arbitrary: largestQuery.map((query) => toJson({ query })) }]
                  : []),
              ]
            : [{ weight: 4, arbitrary: rows(type, hostility) }]),
          ...examples.map((value) => ({
            weight: 2,
            arbitrary: fc.constant(typeof value === 'string' ? value : toJson(value)),
          })),
        )
        .map((text): Body => ({ type, bytes: Buffer.from(text) })),
    ),
  );
  if (hostility === 0) return wellFormed;
  return wellFormed.chain((body) =>
    fc.oneof(
      { weight: 100 - hostility, arbitrary: fc.constant<Body | undefined>(body) },
      {
        weight: Math.ceil(hostility / 2),
        arbitrary: spoiled(body.bytes).map((bytes) => ({ ...body, bytes })),
      },
      {
        weight: Math.ceil(hostility / 3),
        arbitrary: fc.constantFrom(null, ...CONTENT_TYPES).map((type) => ({ ...body, type })),
      },
      { weight: 1, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: huge.map((bytes) => ({ ...body, bytes })) },
    ),
  );
}

/** Generates card loads: CSV with a header, or NDJSON. */
function rows(type: string, hostility: Hostility): Arbitrary<string> {
  const cell =
    hostility === 0
      ? fc.uuid()
      : fc.oneof({ weight: 5, arbitrary: fc.uuid() }, { weight: 1, arbitrary: hostileText });
  const row = fc.record({
    code: cell,
    denomination: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('10', '25') },
      { weight: 1, arbitrary: hostileText },
    ),
    currency: fc.constantFrom('EUR', 'GBP', 'XXX', 'eur'),
    country: fc.constantFrom('FR', 'DE', 'ZZ'),
  });
  return fc
    .array(row, { maxLength: 4 })
    .map((made) =>
      type === 'text/csv'
        ? ['code,denomination,currency,country', ...made.map((each) => Object.values(each).join(','))].join(
            '\n',
          )
        : made.map(toJson).join('\n'),
    );
}
