import type { AppName } from './apps.js';
import type { Role } from './caller.js';
import type { Erasure, ErasureSubject, StandIns } from './erasure.js';
import type { LanguageWish } from './language.js';
import type { Lookup, Question } from './question.js';

/** Keys cross the broker only as keyed hashes (hex of HMAC-SHA-256 over the folded key); these are the ids. */
export const RESOLVE_KEYS: Lookup<ResolvedKey> = {
  subject: 'accounts.keys.resolve',
  owner: 'token-issuer',
  askers: ['perks', 'boost', 'gift-cards', 'console'],
  away: 'The API key service',
  atOnce: 500,
};
export interface ResolvedKey {
  keyId: string;
  account: string;
  role: Role;
}

/** When keys were last used, by their ids, in epoch minutes. Sent now and then; what is known already changes nothing. */
export const REPORT_KEY_USES: Question<KeyUses, object> = {
  subject: 'accounts.keys.used',
  owner: 'token-issuer',
  askers: ['perks', 'boost', 'gift-cards'],
  away: 'The API key service',
};
export interface KeyUses {
  minutes: Record<string, number>;
}

/**
 * A key of the console for one session or job: the console makes it and tells its hash alone. It is valid until it
 * expires, is closed, or whom it was made for loses the right: the key that signed in, or the person. Repeating it does
 * nothing more.
 */
export const OPEN_CONSOLE_KEY: Question<OpenConsoleKey, ConsoleKeyReply> = {
  subject: 'accounts.console-keys.open',
  owner: 'token-issuer',
  askers: ['console'],
  away: 'The API key service',
};
export interface OpenConsoleKey {
  /** A new UUID. */
  id: string;
  hash: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  for: ConsoleKeyHolder;
}
/** By the hash of a key; by address, and account where it is of several; as another key of the console that is valid. */
export type ConsoleKeyHolder = { keyHash: string } | { email: string; account?: string } | { keyId: string };
export type ConsoleKeyReply =
  | {
      account: string;
      accountName: string;
      role: Role;
      /** The end of that key, and its id; null where a person signed in. */
      signedInWith: { keyId: string; name: string | null; last4: string | null } | null;
      email: string | null;
      error?: undefined;
    }
  | { error: 'API_KEY_INVALID' };

/** Keys of the console that nobody needs any more. */
export const CLOSE_CONSOLE_KEYS: Question<{ ids: string[] }, object> = {
  subject: 'accounts.console-keys.close',
  owner: 'token-issuer',
  askers: ['console'],
  away: 'The API key service',
};

/** The keys that an account's own people see, make and revoke in the console. */
export const LIST_ACCOUNT_KEYS: Question<{ account: string }, { keys: AccountKey[] }> = {
  subject: 'accounts.keys.list',
  owner: 'token-issuer',
  askers: ['console'],
  away: 'The API key service',
};
/** The console makes the key and tells its hash alone. Repeating it does nothing more. */
export const ADD_ACCOUNT_KEY: Question<AddAccountKey, { key: AccountKey }> = {
  subject: 'accounts.keys.add',
  owner: 'token-issuer',
  askers: ['console'],
  away: 'The API key service',
};
export interface AddAccountKey {
  account: string;
  /** A new UUID. */
  id: string;
  hash: string;
  last4: string;
  role: Role;
  name: string | null;
}
export const REVOKE_ACCOUNT_KEY: Question<
  { account: string; keyId: string },
  { key: AccountKey } | { error: 'KEY_NOT_FOUND' }
> = {
  subject: 'accounts.keys.revoke',
  owner: 'token-issuer',
  askers: ['console'],
  away: 'The API key service',
};
/** As the management API shows it. */
export interface AccountKey {
  id: string;
  role: Role;
  name: string | null;
  last4: string | null;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}

export const RESOLVE_ACCOUNTS: Lookup<ResolvedAccount> = {
  subject: 'accounts.accounts.resolve',
  owner: 'token-issuer',
  askers: ['perks', 'boost', 'gift-cards'],
  away: 'The account service',
  atOnce: 500,
};
export interface ResolvedAccount {
  name: string;
  allowedOrigins: string[];
}

/** How accounts show themselves to recipients; null for an account that has not said so. */
export const RESOLVE_BRANDS: Lookup<Brand | null> = {
  subject: 'accounts.brands.resolve',
  owner: 'token-issuer',
  askers: ['gift-cards'],
  away: 'The account service',
  // Logos have up to 64 KiB, so more would be read than there is room for.
  atOnce: 16,
};
export interface Brand {
  name: string;
  /** `#rrggbb`; its contrast was checked when it was saved. */
  color: string | null;
  /** A `data:image/...` URL. */
  logo: string | null;
  /** Where recipients get help. Accounts of before have none. */
  support_url?: string | null;
}

export const GET_ANALYTICS_KEYS: Question<object, AnalyticsKeys> = {
  subject: 'accounts.analytics-jwks',
  owner: 'token-issuer',
  askers: ['analytics-query'],
  away: 'The token service',
};
export interface AnalyticsKeys {
  keys: PublicJwk[];
  issuer: string;
  audience: string;
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

/** Where perks lead: the offer URL of each perk that exists, as it can stand in a `Location` header. */
export const RESOLVE_OFFERS: Lookup<string> = {
  subject: 'catalog.offers.resolve',
  owner: 'perks',
  askers: ['links', 'boost'],
  away: 'The perk catalogue',
  atOnce: 500,
};

/** How perks are shown outside a collection. */
export const RESOLVE_PERKS: Lookup<ResolvedPerk, ResolvePerksOptions> = {
  subject: 'catalog.perks.resolve',
  owner: 'perks',
  askers: ['boost'],
  away: 'The perk catalogue',
  // Texts have up to 76,000 characters together, so more could be read than there is room for.
  atOnce: 50,
};
export interface ResolvePerksOptions {
  /** A tag of BCP 47; the catalogue's default language if left out. */
  language?: string;
}
/** Texts are in `language`, field by field: where it lacks one, in its parents, in the default language, as written. */
export interface ResolvedPerk {
  title: string;
  callout: string;
  description: string;
  redemptionNote: string;
  details: string;
  /** The shared code of a static-coupon perk. */
  coupon: string | null;
  media: { banner: string | null; logo: string | null };
  /** The one asked for in canonical form, else the default. */
  language: string;
  /** Those that the perk is translated into, in canonical form. */
  languages: string[];
}

/** These two carry bearer secrets: no stream captures their subjects. Both may be repeated. */
export const GET_REWARD_LINK: Question<RewardLinkRequest, RewardLinkReply> = {
  subject: 'gift-cards.reward-link.get',
  owner: 'gift-cards',
  askers: ['allocation-page'],
  away: 'The gift-card service',
};
export const REVEAL_REWARD_LINK: Question<RewardLinkRequest, RewardLinkReply> = {
  subject: 'gift-cards.reward-link.reveal',
  owner: 'gift-cards',
  askers: ['allocation-page'],
  away: 'The gift-card service',
};
/** `token` is the bearer secret of the link; the rest is the language of the recipient. */
export interface RewardLinkRequest extends LanguageWish {
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
export const CODE_FORMATS = ['text', 'qr', 'code128'] as const;
export type CodeFormat = (typeof CODE_FORMATS)[number];
/** What the card is good for. Until it is revealed only the first three: the rest is how to spend it. */
export interface ProductView {
  name: string;
  /** A `data:image/...` URL. */
  logo: string | null;
  /** `#rrggbb`; its contrast was checked when it was saved. */
  color: string | null;
  /** Plain text. */
  instructions?: string | null;
  redeem_url?: string | null;
  terms_url?: string | null;
  /** How a shop wants to see the code. */
  code_format?: CodeFormat;
}
/** An expected refusal travels as a code, so that the page can answer it. */
export type RewardLinkReply =
  | {
      link: RewardLinkView;
      brand: Brand | null;
      product: ProductView | null;
      /** Of the texts of the product, in canonical form; null without one. */
      language: string | null;
      error?: undefined;
    }
  | { error: 'LINK_NOT_FOUND' | 'LINK_EXPIRED'; link?: undefined; brand?: Brand | null };

/**
 * What takes the place of a journey that is erased. From the answer on whatever is stored of that journey has it. Repeating
 * it answers the same; of a customer nothing is kept.
 */
export const BEGIN_ERASURE: Question<ErasureSubject, StandIns> = {
  subject: 'analytics-query.erasure.begin',
  owner: 'analytics-query',
  askers: ['token-issuer'],
  away: 'The event store',
};
/** Whether the app holds nothing of the person any more, as far as it can see. To be asked again until it does. */
export interface ErasedPart {
  isDone: boolean;
}
const erase = (owner: AppName, away: string): Question<Erasure, ErasedPart> => ({
  subject: `${owner}.erasure.erase`,
  owner,
  askers: ['token-issuer'],
  away,
});
/** By app. The event store is asked after the others, whose events arrive there. */
export const ERASE = {
  console: erase('console', 'The console'),
  'gift-cards': erase('gift-cards', 'The gift-card service'),
  perks: erase('perks', 'The perk catalogue'),
  boost: erase('boost', 'Boost'),
  links: erase('links', 'The redirects'),
  'analytics-query': erase('analytics-query', 'The event store'),
} as const;

/** Every question of the fleet: who may publish and subscribe what on the broker follows from it. */
export const QUESTIONS = [
  RESOLVE_KEYS,
  REPORT_KEY_USES,
  OPEN_CONSOLE_KEY,
  CLOSE_CONSOLE_KEYS,
  LIST_ACCOUNT_KEYS,
  ADD_ACCOUNT_KEY,
  REVOKE_ACCOUNT_KEY,
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  GET_ANALYTICS_KEYS,
  RESOLVE_OFFERS,
  RESOLVE_PERKS,
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  BEGIN_ERASURE,
  ...Object.values(ERASE),
] as const;
