import { DomainError, type Translations } from '@perkway/domain';

export type PerkText = 'title' | 'description' | 'callout' | 'redemption_note' | 'details';
export const PERK_TEXTS: readonly PerkText[] = [
  'title',
  'description',
  'callout',
  'redemption_note',
  'details',
];

export interface PerkLocation {
  country: string;
  region?: string;
  city?: string;
}

export interface Category {
  id: number;
  slug: string;
  name: string;
  translations: Translations<'name'>;
}

/** A perk as a collection shows it. */
export interface CollectionPerk extends Record<PerkText, string> {
  id: string;
  offer_slug: string;
  coupon: string | null;
  is_coupon_perk: boolean;
  metadata: string;
  partner: { id: string; name: string };
  media: { banner: string | null; logo: string | null };
  locations: PerkLocation[];
  /** By id. */
  categories: Category[];
  translations: Translations<PerkText>;
}

export interface PlacedPerk {
  perk: CollectionPerk;
  rank: number;
}

export interface CollectionGroup {
  id: string;
  name: string;
  rank: number;
  translations: Translations<'name'>;
  /** By rank. */
  perks: PlacedPerk[];
}

/** A collection in memory, in the order in which it is shown. Never changed; an edit makes a new one. */
export interface Collection {
  id: string;
  /** The owning account. */
  owner: string;
  revision: string;
  groups: CollectionGroup[];
  /** Each perk once, under the lowest of its ranks, by rank. */
  perks: PlacedPerk[];
  perksById: ReadonlyMap<string, PlacedPerk>;
  /** Those of all perks, by id. */
  categories: Category[];
  /** Of everything in it: lower-case tags to canonical ones. */
  languages: ReadonlyMap<string, string>;
}

/** @throws DomainError PERK_NOT_FOUND */
export function perkIn(collection: Collection, perkId: string): PlacedPerk {
  const placed = collection.perksById.get(perkId);
  if (!placed) throw new DomainError('PERK_NOT_FOUND');
  return placed;
}
