import { ApiError, type Translations } from '@perkway/domain';

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

/** A perk as shown in a collection. */
export interface CollectionPerk extends Record<PerkText, string> {
  id: string;
  offer_slug: string;
  coupon: string | null;
  is_coupon_perk: boolean;
  metadata: string;
  partner: { id: string; name: string };
  media: { banner: string | null; logo: string | null };
  locations: PerkLocation[];
  /** Sorted by id. */
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
  /** Sorted by rank. */
  perks: PlacedPerk[];
}

/** A collection in memory, in display order. Immutable; an edit creates a new one. */
export interface Collection {
  id: string;
  /** The owning account. */
  owner: string;
  revision: string;
  groups: CollectionGroup[];
  /** Each perk once with its lowest rank, sorted by rank. */
  perks: PlacedPerk[];
  perksById: ReadonlyMap<string, PlacedPerk>;
  /** The categories of all perks, sorted by id. */
  categories: Category[];
  /** All languages with a translation here: lower-case tag to canonical tag. */
  languages: ReadonlyMap<string, string>;
}

/** @throws ApiError PERK_NOT_FOUND */
export function perkIn(collection: Collection, perkId: string): PlacedPerk {
  const placed = collection.perksById.get(perkId);
  if (!placed) throw new ApiError('PERK_NOT_FOUND');
  return placed;
}
