import { isText } from '@perkway/platform';
import { invalidFields, lastOf, type FieldProblem } from '@perkway/domain';
import type { CollectionPerk, PerkLocation } from '../catalog/collection.js';
import { MAX_CATEGORY_ID, readCategoryId } from '../categories/category-id.js';

/** The filters of getPerkCollection; a perk must match all of them. Places are case-folded for comparison. */
export interface PerkFilters {
  /** Matches any of them; ascending, without duplicates. */
  categories: number[] | undefined;
  country: string | undefined;
  region: string | undefined;
  city: string | undefined;
  showCouponPerks: boolean;
}

export const NO_FILTERS: PerkFilters = {
  categories: undefined,
  country: undefined,
  region: undefined,
  city: undefined,
  showCouponPerks: false,
};

const MAX_PLACE_LENGTH = 100;

type Query = Readonly<Record<string, string | string[] | undefined>>;

/** Reads a list as documented (`name=1&name=2`) or as axios and others write it (`name[]=1&name[]=2`). */
const listOf = (query: Query, name: string): string[] | undefined => {
  const plain = query[name];
  const bracketed = query[`${name}[]`];
  return plain === undefined && bracketed === undefined ? undefined : [plain ?? [], bracketed ?? []].flat();
};

/** NFC makes composed and decomposed letters compare equal. */
const fold = (place: string): string => place.normalize('NFC').toLowerCase();

function readCategories(query: Query, problems: FieldProblem[]): number[] | undefined {
  const given = listOf(query, 'categories');
  if (!given) return undefined;
  const ids = new Set<number>();
  for (const text of given) {
    const id = readCategoryId(text);
    if (id !== undefined) ids.add(id);
    else if (problems.length === 0)
      problems.push({ field: 'categories', message: `must be integers from 1 to ${MAX_CATEGORY_ID}` });
  }
  return [...ids].sort((a, b) => a - b);
}

function readPlace(query: Query, field: string, problems: FieldProblem[]): string | undefined {
  const place = lastOf(query[field]);
  if (place === undefined) return undefined;
  if (!isText(place, 1, MAX_PLACE_LENGTH))
    problems.push({ field, message: `must have 1 to ${MAX_PLACE_LENGTH} characters` });
  return fold(place);
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** @throws ApiError VALIDATION_FAILED naming every invalid parameter */
export function readFilters(query: Query): PerkFilters {
  const problems: FieldProblem[] = [];
  const categories = readCategories(query, problems);
  const country = readPlace(query, 'location_country', problems);
  const region = readPlace(query, 'location_region', problems);
  const city = readPlace(query, 'location_city', problems);
  const shown = lastOf(query.show_coupon_perks);
  const showCouponPerks = shown === undefined ? false : BOOLEANS.get(shown.toLowerCase());
  if (showCouponPerks === undefined)
    problems.push({ field: 'show_coupon_perks', message: 'must be true or false' });
  if (problems.length > 0) throw invalidFields(problems);
  return { categories, country, region, city, showCouponPerks: showCouponPerks! };
}

/** Returns a cache key that is the same for equal filters, however they were written. */
export const filtersKey = ({ categories, country, region, city, showCouponPerks }: PerkFilters): string =>
  JSON.stringify([categories, country, region, city, showCouponPerks]);

/** A location without a region or city covers all of them. */
const covers = (given: string | undefined, wanted: string | undefined): boolean =>
  wanted === undefined || given === undefined || fold(given) === wanted;

const isAt = ({ country, region, city }: PerkLocation, filters: PerkFilters): boolean =>
  covers(country, filters.country) && covers(region, filters.region) && covers(city, filters.city);

export function matches(perk: CollectionPerk, filters: PerkFilters): boolean {
  if (perk.is_coupon_perk && !filters.showCouponPerks) return false;
  if (filters.categories && !perk.categories.some(({ id }) => filters.categories!.includes(id))) return false;
  // A perk without locations is eligible everywhere.
  return perk.locations.length === 0 || perk.locations.some((location) => isAt(location, filters));
}
