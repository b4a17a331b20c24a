/** Translatable texts of a perk. A missing translation falls back to English, field by field. */
export const PERK_TEXTS = ['title', 'callout', 'description', 'redemption_note', 'details'] as const;
export type PerkText = (typeof PERK_TEXTS)[number];
type Named = Record<string, { name: string }>;

export interface Account {
  id: string;
  name: string;
  /** A key to import. The demo's keys are public, so use them for the demo only. */
  user_key?: string;
  allowed_origins?: string[];
  /** In the file, `logo` is the path of an image; once read, it is a data URL. */
  brand?: { name: string; color?: string; logo?: string; support_url?: string };
  people?: { email: string; role: string }[];
}
export interface Category {
  id: number;
  slug: string;
  name: string;
  translations?: Named;
}
export interface Location {
  country: string;
  region?: string;
  city?: string;
}
export interface Perk extends Record<PerkText, string> {
  id: string;
  offer_slug: string;
  offer_url: string;
  coupon?: string;
  is_coupon_perk?: boolean;
  /** Maximum number of codes for the customers of one account. */
  codes_per_account?: number;
  metadata?: string;
  partner: { id: string; name: string };
  categories: number[];
  media: { banner?: string; logo?: string };
  locations: Location[];
  translations: Record<string, Partial<Record<PerkText, string>>>;
}
export interface Group {
  id?: string;
  name: string;
  rank: number;
  translations?: Named;
  perks: { id: string; rank: number }[];
}
export interface Collection {
  id: string;
  owner: string;
  groups: Group[];
}
export interface Campaign {
  id: string;
  owner: string;
  name: string;
  incentives: string[];
}
export interface Card {
  code: string;
  pin?: string;
  denomination: number;
  currency: string;
  country: string;
}
export interface Pool {
  id: string;
  owner: string;
  /** A file in the folder `cards`: CSV with a header, or NDJSON. */
  cards?: string;
  /** The product that the cards are for, as gift-cards accepts it; `logo` as in `brand`. */
  product?: { logo?: string };
}

/** A resource read from a file. `file` is relative to the directory, `row` counts as a spreadsheet does. */
export type InFile<T> = T & { file: string; row?: number };

export interface Catalogue {
  accounts: InFile<Account>[];
  categories: InFile<Category>[];
  perks: InFile<Perk>[];
  /** Single-use codes by perk id. */
  codes: Map<string, InFile<{ codes: string[] }>>;
  collections: InFile<Collection>[];
  campaigns: InFile<Campaign>[];
  pools: InFile<Pool & { text?: string }>[];
}

export const emptyCatalogue = (): Catalogue => ({
  accounts: [],
  categories: [],
  perks: [],
  codes: new Map(),
  collections: [],
  campaigns: [],
  pools: [],
});
