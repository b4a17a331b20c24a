import fc, { type Arbitrary } from 'fast-check';
import type { Schema } from './document.js';

/** A placeholder for a number literal that `JSON.stringify` would write differently; `toJson` puts the literal in. */
const raw = (digits: string): string => `@raw:${digits}`;

/** Returns the JSON of a value with its raw numbers unchanged. */
export const toJson = (value: unknown): string =>
  (JSON.stringify(value) ?? '').replace(/"@raw:([^"]*)"/g, '$1');

/** Returns the JSON of an array nested to this depth, written without recursion. */
export const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\r\nX-Injected: 1',
  '\u2028',
  '\u202edcba',
  '\ud800',
  'e\u0301\u0327',
  '👩‍👩‍👧‍👦',
  'ａｄｍｉｎ',
  'İ',
  'ß',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  'then',
  'null',
  'undefined',
  'NaN',
  'true',
  '-0',
  '1e309',
  '-1',
  '0x10',
  '1_000',
  '١٢',
  '9007199254740993',
  '2147483648',
  '9223372036854775808',
  '0000-00-00',
  '2026-02-30',
  '+275760-09-13T00:00:00.001Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-14:00',
  '99999999999999999999',
  "' or '1'='1",
  "'; select pg_sleep(9); --",
  '$1',
  '%',
  '\\',
  '"',
  '${7*7}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '../../../etc/passwd',
  '..',
  '.',
  '/',
  'http://127.0.0.1:1/',
  'javascript:alert(1)',
  'data:image/svg+xml,<svg onload=alert(1)>',
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  '{"a":1}',
  '[]',
  '*',
  '(((((((((((((((((((((((((((((a)+)+)+)+)+)+',
];

/** Strings that have broken other programs. Long ones are rare because they are slow. */
export const hostileText: Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 300 }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('a', 'é', '0', ' '), fc.constantFrom(101, 129, 255, 256, 1_001, 2_001))
      .map(([unit, length]) => unit.repeat(length)),
  },
);

const hostileNumber: Arbitrary<unknown> = fc.constantFrom<unknown>(
  -1,
  0,
  -0,
  0.1,
  0.30000000000000004,
  1e-320,
  1e21,
  1e308,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 63),
  raw('1e400'),
  raw('-1e400'),
  raw('123456789012345678901234567890'),
  raw('0.00000000000000000000000000000000000000001'),
);

const hostileValue: Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText as Arbitrary<unknown> },
  { weight: 4, arbitrary: hostileNumber },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], { '': '' }, { length: -1 }),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        '{"__proto__":{"isAdmin":true}}',
        '{"constructor":{"prototype":{"isAdmin":true}}}',
        '{"toString":null,"valueOf":1,"toJSON":1}',
        '{"then":{}}',
        nested(90),
        nested(101),
        `{"a":${nested(150)}}`,
      )
      .map((text) => JSON.parse(text) as unknown),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(hostileText as Arbitrary<unknown>, fc.constantFrom(2, 201, 1_001))
      .map(([value, count]) => Array(count).fill(value) as unknown),
  },
);

/** Existing values by parameter or member name; lists have at least one value. */
export type Known = ReadonlyMap<string, readonly unknown[]>;

/** Percentage of hostile values. */
export type Hostility = 0 | 5 | 15 | 60;
export const HOSTILITIES: readonly Hostility[] = [0, 5, 5, 15, 60];

const mixed = (good: Arbitrary<unknown>, hostility: Hostility, hostile = hostileValue): Arbitrary<unknown> =>
  hostility === 0
    ? good
    : fc.oneof({ weight: 100 - hostility, arbitrary: good }, { weight: hostility, arbitrary: hostile });

const MAX_DEPTH = 5;

/** Generates values for the schemas of one document. */
export class Values {
  constructor(
    private readonly schemas: Record<string, Schema>,
    private readonly known: Known,
  ) {}

  /** @param name of the parameter or member, to look up known values */
  of(schema: Schema, hostility: Hostility, name = '', depth = 0): Arbitrary<unknown> {
    const known = this.known.get(name);
    // An example may refer to an existing resource that not every request may use.
    const made = this.made(known ? { ...schema, example: undefined } : schema, hostility, depth);
    const good = known
      ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: made })
      : made;
    return mixed(good, hostility);
  }

  private made(schema: Schema, hostility: Hostility, depth: number): Arbitrary<unknown> {
    if (schema.$ref) return this.made(this.resolve(schema.$ref), hostility, depth);
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices && depth < MAX_DEPTH)
      return fc.oneof(...choices.map((choice) => this.made(choice, hostility, depth + 1)));
    if (schema.allOf) return this.made(this.merged(schema), hostility, depth);
    const byType = [schema.type ?? (schema.properties ? 'object' : 'string')]
      .flat()
      .map((type) => this.ofType(type, schema, hostility, depth));
    const example = schema.example === undefined ? [] : [fc.constant(schema.example)];
    return fc.oneof(...example, ...byType);
  }

  private ofType(type: string, schema: Schema, hostility: Hostility, depth: number): Arbitrary<unknown> {
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (type === 'null') return fc.constant(null);
    if (type === 'boolean') return fc.boolean();
    if (type === 'integer' || type === 'number') return numberOf(type, schema);
    if (type === 'array') {
      if (depth >= MAX_DEPTH) return fc.constant([]);
      return fc.array(this.of(schema.items ?? {}, hostility, '', depth + 1), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 5),
      });
    }
    if (type === 'object') return this.objectOf(schema, hostility, depth);
    return textOf(schema);
  }

  private objectOf(schema: Schema, hostility: Hostility, depth: number): Arbitrary<unknown> {
    const { properties = {}, required = [], additionalProperties } = schema;
    const members = Object.entries(properties).filter(
      ([name]) => depth < MAX_DEPTH || required.includes(name),
    );
    const named = fc.record(
      Object.fromEntries(
        members.map(([name, member]) => [name, this.of(member, hostility, name, depth + 1)]),
      ),
      hostility === 0 ? { requiredKeys: required } : { requiredKeys: [] },
    );
    const requiredOnly = fc.record(
      Object.fromEntries(
        members
          .filter(([name]) => required.includes(name))
          .map(([name, member]) => [name, this.of(member, hostility, name, depth + 1)]),
      ),
    );
    const more =
      typeof additionalProperties === 'object'
        ? fc.dictionary(
            fc.constantFrom('fr', 'de', 'a', 'segment'),
            this.of(additionalProperties, hostility, '', depth + 1),
          )
        : hostility > 5
          ? fc.dictionary(hostileText, hostileValue, { maxKeys: 2 })
          : fc.constant({});
    return fc
      .tuple(fc.oneof(named, requiredOnly), more)
      .map(([one, other]) => ({ ...(one as object), ...(other as object) }));
  }

  private resolve(reference: string): Schema {
    return this.schemas[reference.slice(reference.lastIndexOf('/') + 1)] ?? {};
  }

  private merged({ allOf = [], ...rest }: Schema): Schema {
    const parts = allOf.map((part) => (part.$ref ? this.resolve(part.$ref) : part));
    return Object.assign({}, ...parts, rest) as Schema;
  }
}

function numberOf(type: string, { minimum = 0, maximum = 1_000 }: Schema): Arbitrary<unknown> {
  const edges = fc.constantFrom(minimum, maximum, minimum + 1);
  const inside = fc.integer({ min: Math.ceil(minimum), max: Math.floor(Math.min(maximum, minimum + 1_000)) });
  return type === 'integer'
    ? fc.oneof(edges, inside)
    : fc.oneof(edges, inside, fc.constantFrom(9.5, 25, 10.01));
}

const ID = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/);

function textOf({ format, minLength = 0, maxLength = 40, pattern }: Schema): Arbitrary<unknown> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time')
    return fc.constantFrom(
      ...['2026-01-01T00:00:00.000Z', '2024-02-29T23:59:60Z', '0000-01-01T00:00:00Z', '2026-02-30T00:00:00Z'],
      ...['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59-14:00'],
    );
  if (format === 'email') return ID.map((id) => `${id}@example.com`);
  if (format === 'uri') return fc.constantFrom('https://shop.example/', 'http://shop.example/a?b=c#d');
  if (pattern) return ID;
  const lengths = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)) };
  return fc.oneof(
    fc.string({ unit: 'grapheme', ...lengths }),
    fc.constantFrom('x', 'Ostervale', 'GBP', 'FR').filter(({ length }) => length >= minLength),
    fc.constant('x'.repeat(Math.min(maxLength, 2_000))),
  );
}
