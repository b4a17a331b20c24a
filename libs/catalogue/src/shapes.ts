import { isRecord } from '@perkway/domain/is-record';

import { PERK_TEXTS, type Catalogue } from './resources.js';

/** The members that a resource may have: `true` for any value, an array for lists, `*` for any name. */
export type Shape = true | readonly [Shape] | { readonly [member: string]: Shape };

const SOURCE = { file: true, row: true } as const;
const texts = (...names: string[]): Shape => ({ '*': Object.fromEntries(names.map((name) => [name, true])) });

export const PERK_SHAPE = {
  id: true,
  ...Object.fromEntries(PERK_TEXTS.map((name) => [name, true as const])),
  offer_url: true,
  offer_slug: true,
  coupon: true,
  is_coupon_perk: true,
  codes_per_account: true,
  metadata: true,
  partner: { id: true, name: true },
  categories: [true],
  media: { banner: true, logo: true },
  locations: [{ country: true, region: true, city: true }],
  translations: texts(...PERK_TEXTS),
} as const satisfies Shape;

export const SHAPES = {
  accounts: {
    ...SOURCE,
    id: true,
    name: true,
    user_key: true,
    allowed_origins: [true],
    brand: { name: true, color: true, logo: true, support_url: true },
    people: [{ email: true, role: true }],
  },
  categories: { ...SOURCE, id: true, slug: true, name: true, translations: texts('name') },
  perks: { ...SOURCE, ...PERK_SHAPE },
  collections: {
    ...SOURCE,
    id: true,
    owner: true,
    groups: [
      { id: true, name: true, rank: true, translations: texts('name'), perks: [{ id: true, rank: true }] },
    ],
  },
  campaigns: { ...SOURCE, id: true, owner: true, name: true, incentives: [true] },
  pools: {
    ...SOURCE,
    id: true,
    owner: true,
    cards: true,
    text: true,
    product: {
      name: true,
      instructions: true,
      redeem_url: true,
      terms_url: true,
      logo: true,
      color: true,
      code_format: true,
      translations: texts('name', 'instructions'),
    },
  },
} as const satisfies Partial<Record<keyof Catalogue, Shape>>;

export interface Misfit {
  at: string;
  /** Missing if the member is unknown. */
  expected?: 'a list' | 'a map';
}

/** Returns the members that do not fit the shape. Missing members fit. */
export function misfits(value: unknown, shape: Shape, at = ''): Misfit[] {
  if (shape === true || value === undefined || value === null) return [];
  const inside = (name: string | number): string => (at ? `${at}.${name}` : String(name));
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [{ at, expected: 'a list' }];
    return value.flatMap((item: unknown, index) =>
      item === null && shape[0] !== true
        ? [{ at: inside(index), expected: 'a map' }]
        : misfits(item, shape[0] as Shape, inside(index)),
    );
  }
  if (!isRecord(value)) return [{ at, expected: 'a map' }];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = memberOf(shape as Exclude<Shape, true | readonly [Shape]>, name);
    return known === undefined ? [{ at: inside(name) }] : misfits(member, known, inside(name));
  });
}

/** Returns whether a path such as `partner.id` leads to no single value of the shape. Lists count as one value. */
export function unknownMember(shape: Shape, path: string): boolean {
  let found: Shape | undefined = shape;
  for (const name of path.split('.'))
    found = isRecord(found) ? memberOf(found as Record<string, Shape>, name) : undefined;
  return found !== true && !Array.isArray(found);
}

const memberOf = (members: { readonly [member: string]: Shape }, name: string): Shape | undefined =>
  Object.hasOwn(members, name) ? members[name] : members['*'];
