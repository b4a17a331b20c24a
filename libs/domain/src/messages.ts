import type { Role } from './caller.js';

/**
 * Request/reply contracts between the apps (NATS subjects answered by `@MessagePattern`). The owner answers what it
 * knows: an id that is unknown is absent from the answer. Objects keyed by id are plain maps.
 */
export const SUBJECTS = {
  /** Answered by token-issuer. */
  resolveKeys: 'accounts.keys.resolve',
  resolveAccounts: 'accounts.accounts.resolve',
  analyticsJwks: 'accounts.analytics-jwks',
  /** Answered by perks. */
  resolvePerks: 'catalog.perks.resolve',
  /** Answered by gift-cards; no stream captures these, they carry bearer secrets. */
  getRewardLink: 'gift-cards.reward-link.get',
  revealRewardLink: 'gift-cards.reward-link.reveal',
} as const;

/** Keys cross the broker only as keyed hashes (hex of HMAC-SHA-256 over the folded key). */
export interface ResolveKeysRequest {
  hashes: string[];
}
export interface ResolvedKey {
  keyId: string;
  account: string;
  role: Role;
}
export interface ResolveKeysReply {
  keys: Record<string, ResolvedKey>;
}

export interface ResolveAccountsRequest {
  ids: string[];
  /** Brands hold logos of up to 64 KiB, so they come only when asked for. At most MAX_BRANDS ids then. */
  withBrand?: boolean;
}
/** So many brands fit into one message of a broker with default limits (1 MiB). */
export const MAX_BRANDS = 8;
export interface ResolvedAccount {
  name: string;
  allowedOrigins: string[];
  /** How it shows itself to recipients; null where it has not said so, absent where it was not asked for. */
  brand?: Brand | null;
}
export interface ResolveAccountsReply {
  accounts: Record<string, ResolvedAccount>;
}

/** A public JSON Web Key, as RFC 7517 has it. */
export interface PublicJwk {
  kid: string;
  kty: string;
  crv?: string;
  x?: string;
  y?: string;
  alg?: string;
  use?: string;
}
export interface AnalyticsJwksReply {
  keys: PublicJwk[];
  issuer: string;
  audience: string;
}

export interface ResolvePerksRequest {
  ids: string[];
}
/** What a perk leads to and how it is shown outside a collection. Texts are in the default language. */
export interface ResolvedPerk {
  offerUrl: string;
  title: string;
  callout: string;
  description: string;
  media: { banner: string | null; logo: string | null };
}
export interface ResolvePerksReply {
  perks: Record<string, ResolvedPerk>;
}

/** `token` is the bearer secret of the link. */
export interface RewardLinkRequest {
  token: string;
}
export type RewardLinkState = 'RESERVED' | 'REVEALED' | 'EXPIRED';
export interface RewardLinkView {
  state: RewardLinkState;
  denomination: number;
  currency: string;
  country: string;
  /** Unix seconds. */
  expires_at: number;
  /** Only when REVEALED. */
  card?: { code: string; pin?: string };
}
/** An expected refusal travels as a code, so that the page can answer it. */
export type RewardLinkReply =
  | { link: RewardLinkView; brand: Brand | null; error?: undefined }
  | { error: 'LINK_NOT_FOUND' | 'LINK_EXPIRED'; link?: undefined; brand?: Brand | null };

/** How the account shows itself on the Allocation Page. */
export interface Brand {
  name: string;
  /** `#rrggbb`; its contrast was checked when it was saved. */
  color: string | null;
  /** A `data:image/...` URL. */
  logo: string | null;
}
