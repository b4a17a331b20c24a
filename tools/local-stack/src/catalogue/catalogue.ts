/** Texts of a perk that may differ by language; a missing one falls back to English, field by field. */
export const PERK_TEXTS = ['title', 'callout', 'description', 'redemption_note', 'details'] as const;
export type PerkText = (typeof PERK_TEXTS)[number];
type Named = Record<string, { name: string }>;

export interface Account {
  id: string;
  name: string;
  /** A key to import. That of a demo is published, so good for a demo and for nothing else. */
  user_key?: string;
  allowed_origins?: string[];
  /** `logo` names a picture in the file, and is a data URL once it is read. */
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
  /** A file of the folder `cards`: CSV with a header, or NDJSON. */
  cards?: string;
  /** What the cards are good for, as gift-cards takes it; `logo` as that of a brand. */
  product?: { logo?: string };
}

/** Something read from a file; `file` is relative to the directory and starts every complaint about it. */
export type InFile<T> = T & { file: string };

export interface Catalogue {
  accounts: InFile<Account>[];
  categories: InFile<Category>[];
  perks: InFile<Perk>[];
  /** Single-use codes by the id of their perk. */
  codes: Map<string, InFile<{ codes: string[] }>>;
  collections: InFile<Collection>[];
  campaigns: InFile<Campaign>[];
  pools: InFile<Pool & { text?: string }>[];
}
