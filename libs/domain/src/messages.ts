import type { AppName } from './apps.js';
import type { Role, Scope } from './caller.js';
import type { Erasure, ErasureSubject, StandIns } from './erasure.js';
import type { LanguagePreference } from './language.js';
import type { StockRate } from './low-stock.js';
import type { Lookup, RpcContract } from './rpc-contract.js';

/** Keys cross the broker only as keyed hashes (hex HMAC-SHA-256 of the lower-cased key); these hashes are the ids. */
export const RESOLVE_KEYS: Lookup<ResolvedKey> = {
  subject: 'accounts.keys.resolve',
  owner: 'token-issuer',
  callers: ['perks', 'boost', 'gift-cards', 'console', 'events'],
  serviceName: 'The API key service',
  maxIdsPerMessage: 500,
};
export interface ResolvedKey {
  keyId: string;
  account: string;
  role: Role;
  /** The key may do nothing else. If missing, it may do all that its role may. */
  scopes?: readonly Scope[];
  /** Epoch milliseconds. Expired keys are resolved, so that they can be distinguished from unknown ones. */
  expiresAt?: number;
  /** The first key of a chain of rotations, if this is a later one, or the key that opened a console session. */
  countedAs?: string;
  name?: string;
  /** The key of a console session, whose changes the console logs itself. */
  isConsole?: boolean;
}

/** Reports when keys were last used, by key id, in epoch minutes. Sent periodically; repeating it changes nothing. */
export const REPORT_KEY_USES: RpcContract<KeyUses, object> = {
  subject: 'accounts.keys.used',
  owner: 'token-issuer',
  callers: ['perks', 'boost', 'gift-cards', 'events'],
  serviceName: 'The API key service',
};
export interface KeyUses {
  minutes: Record<string, number>;
}

/**
 * Opens a console key for one session or job: the console creates the key and sends only its hash. The key is valid
 * until it expires, is closed, or its holder (the key or person that signed in) loses access. Repeating the request
 * changes nothing.
 */
export const OPEN_CONSOLE_KEY: RpcContract<OpenConsoleKey, ConsoleKeyReply> = {
  subject: 'accounts.console-keys.open',
  owner: 'token-issuer',
  callers: ['console'],
  serviceName: 'The API key service',
};
export interface OpenConsoleKey {
  /** A new UUID. */
  id: string;
  hash: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  for: ConsoleKeyHolder;
}
/**
 * The holder: a key by its hash, a person by email address (and account, if the address has several), or another valid
 * console key. With `viewing`, an operator's console key opens one that may only read, of that account.
 */
export type ConsoleKeyHolder =
  { keyHash: string } | { email: string; account?: string } | { keyId: string; viewing?: string };
export type ConsoleKeyReply =
  | {
      account: string;
      accountName: string;
      role: Role;
      /** Name and last four characters of the key that signed in, and its id; null if a person signed in. */
      signedInWith: { keyId: string; name: string | null; last4: string | null } | null;
      email: string | null;
      /** The person who made the key that signed in, if a person made it in the console. */
      keyMaker: string | null;
      approvals: Approvals | null;
      error?: undefined;
    }
  | { error: 'API_KEY_INVALID' | 'ACCOUNT_NOT_FOUND' };

/** Sizes beyond which a link job of the account waits for an approval. Null means omitted. */
export interface Approvals {
  links?: number | null;
  /** Each currency once. */
  amount?: { currency: string; amount: number }[] | null;
}

/** Closes console keys that are no longer needed. */
export const CLOSE_CONSOLE_KEYS: RpcContract<{ ids: string[] }, object> = {
  subject: 'accounts.console-keys.close',
  owner: 'token-issuer',
  callers: ['console'],
  serviceName: 'The API key service',
};

/** Lists the keys that an account's own users see, create and revoke in the console. */
export const LIST_ACCOUNT_KEYS: RpcContract<{ account: string }, { keys: AccountKey[] }> = {
  subject: 'accounts.keys.list',
  owner: 'token-issuer',
  callers: ['console'],
  serviceName: 'The API key service',
};
/** The console creates the key and sends only its hash. Repeating the request changes nothing. */
export const ADD_ACCOUNT_KEY: RpcContract<AddAccountKey, { key: AccountKey } | { error: 'FORBIDDEN' }> = {
  subject: 'accounts.keys.add',
  owner: 'token-issuer',
  callers: ['console'],
  serviceName: 'The API key service',
};
export interface AddAccountKey {
  account: string;
  /** The console key of the session that creates the key. */
  consoleKeyId: string;
  /** A new UUID. */
  id: string;
  hash: string;
  last4: string;
  role: Role;
  name: string | null;
  scopes?: Scope[] | null | undefined;
  /** ISO 8601. */
  expiresAt?: string | null | undefined;
}
/**
 * Replaces a key by a new one of the same kind. The console creates the key and sends only its hash. Repeating the
 * request changes nothing.
 */
export const ROTATE_ACCOUNT_KEY: RpcContract<
  RotateAccountKey,
  { key: AccountKey } | { error: 'FORBIDDEN' | 'KEY_NOT_FOUND' | 'KEY_ROTATED' | 'KEY_EXPIRED' }
> = {
  subject: 'accounts.keys.rotate',
  owner: 'token-issuer',
  callers: ['console'],
  serviceName: 'The API key service',
};
export interface RotateAccountKey {
  account: string;
  /** The console key of the session that rotates the key. */
  consoleKeyId: string;
  /** The key to replace. */
  keyId: string;
  /** A new UUID. */
  id: string;
  hash: string;
  last4: string;
  /** How long the old key still works. */
  overlapSeconds: number;
}
export const REVOKE_ACCOUNT_KEY: RpcContract<
  { account: string; keyId: string },
  { key: AccountKey } | { error: 'KEY_NOT_FOUND' }
> = {
  subject: 'accounts.keys.revoke',
  owner: 'token-issuer',
  callers: ['console'],
  serviceName: 'The API key service',
};
/** A key as the management API returns it. */
export interface AccountKey {
  id: string;
  role: Role;
  name: string | null;
  last4: string | null;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
  scopes: Scope[] | null;
  expires_at: string | null;
  rotated_to: string | null;
  counted_as: string;
}

export const RESOLVE_ACCOUNTS: Lookup<ResolvedAccount> = {
  subject: 'accounts.accounts.resolve',
  owner: 'token-issuer',
  callers: ['perks', 'boost', 'gift-cards'],
  serviceName: 'The account service',
  maxIdsPerMessage: 500,
};
export interface ResolvedAccount {
  name: string;
  allowedOrigins: string[];
}

/** Returns those of the origins that any account allows. */
export const RESOLVE_ORIGINS: Lookup<true> = {
  subject: 'accounts.origins.resolve',
  owner: 'token-issuer',
  callers: ['perks', 'boost'],
  serviceName: 'The account service',
  maxIdsPerMessage: 500,
};

/** The branding that accounts show to recipients; null for an account without any. */
export const RESOLVE_BRANDS: Lookup<Brand | null> = {
  subject: 'accounts.brands.resolve',
  owner: 'token-issuer',
  callers: ['gift-cards'],
  serviceName: 'The account service',
  // Logos have up to 64 KiB, so more would not fit into one response.
  maxIdsPerMessage: 16,
};
export interface Brand {
  name: string;
  /** `#rrggbb`; the contrast was checked when it was saved. */
  color: string | null;
  /** A `data:image/...` URL. */
  logo: string | null;
  /** Where recipients get help. Older accounts have none. */
  support_url?: string | null;
}

export const GET_ANALYTICS_KEYS: RpcContract<object, AnalyticsKeys> = {
  subject: 'accounts.analytics-jwks',
  owner: 'token-issuer',
  callers: ['analytics-query'],
  serviceName: 'The token service',
};
export interface AnalyticsKeys {
  keys: PublicJwk[];
  issuer: string;
  audience: string;
}
/** A public JSON Web Key (RFC 7517). */
export interface PublicJwk {
  kid: string;
  kty: string;
  crv?: string;
  x?: string;
  y?: string;
  alg?: string;
  use?: string;
}

/**
 * Signs the statement of a closed month with the key that also signs analytics tokens, so that one key set verifies
 * both.
 */
export const SIGN_STATEMENT: RpcContract<ClosedStatement, { jws: string }> = {
  subject: 'accounts.statements.sign',
  owner: 'token-issuer',
  callers: ['gift-cards'],
  serviceName: 'The token service',
};
export interface ClosedStatement {
  account: string;
  month: string;
  rows: object[];
}

/**
 * Adds a record to the console's audit log: a management call that was made with an API key, or its outcome. Repeating
 * the request changes nothing.
 */
export const STORE_ADMIN_LOG: RpcContract<AdminLogRecord, object> = {
  subject: 'console.admin-log.store',
  owner: 'console',
  callers: ['perks', 'boost', 'gift-cards', 'token-issuer'],
  serviceName: 'The audit log',
};
export type AdminLogRecord = AdminLogEntry | AdminLogOutcome;
export interface AdminLogEntry {
  /** A UUID, which the outcome has too. */
  id: string;
  /** ISO 8601 */
  at: string;
  account: string;
  role: Role;
  keyId: string;
  keyName: string | null;
  /** HTTP method of the call. */
  action: string;
  host: string;
  path: string;
  before: unknown;
}
export interface AdminLogOutcome {
  id: string;
  at: string;
  status: number;
  after: unknown;
}

/** Returns the offer URL of each perk that exists, in a form that is valid in a `Location` header. */
export const RESOLVE_OFFERS: Lookup<string> = {
  subject: 'catalog.offers.resolve',
  owner: 'perks',
  callers: ['links', 'boost'],
  serviceName: 'The perk catalogue',
  maxIdsPerMessage: 500,
};

/** Returns how perks are shown outside a collection. */
export const RESOLVE_PERKS: Lookup<ResolvedPerk, ResolvePerksOptions> = {
  subject: 'catalog.perks.resolve',
  owner: 'perks',
  callers: ['boost'],
  serviceName: 'The perk catalogue',
  // The texts of a perk have up to 76,000 characters, so more perks would not fit into one response.
  maxIdsPerMessage: 50,
};
export interface ResolvePerksOptions {
  /** A BCP 47 tag; default: the catalogue's default language. */
  language?: string;
}
/** Each text is in `language`; if missing there, in its parents, then in the default language, then as written. */
export interface ResolvedPerk {
  title: string;
  callout: string;
  description: string;
  redemptionNote: string;
  details: string;
  /** The shared code of a static-coupon perk. */
  coupon: string | null;
  media: { banner: string | null; logo: string | null };
  /** The requested language in canonical form, otherwise the default. */
  language: string;
  /** The languages the perk is translated into, in canonical form. */
  languages: string[];
}

/** This contract and the next carry bearer secrets: no stream captures their subjects. Both are safe to repeat. */
export const GET_REWARD_LINK: RpcContract<RewardLinkRequest, RewardLinkReply> = {
  subject: 'gift-cards.reward-link.get',
  owner: 'gift-cards',
  callers: ['allocation-page'],
  serviceName: 'The gift-card service',
};
export const REVEAL_REWARD_LINK: RpcContract<RewardLinkRequest, RewardLinkReply> = {
  subject: 'gift-cards.reward-link.reveal',
  owner: 'gift-cards',
  callers: ['allocation-page'],
  serviceName: 'The gift-card service',
};
/** `token` is the bearer secret of the link; the other members are the recipient's language preferences. */
export interface RewardLinkRequest extends LanguagePreference {
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
  /** Absent if RESERVED. Recipients quote its first 8 characters to the sender; it is not a credential. */
  id?: string;
  /** Present only if the link was cancelled before it was revealed, by its sender or by a withdrawal of its card. */
  cancelled?: true;
  /** Present only if the card of the cancelled link is withdrawn, for example recalled by its issuer. */
  withdrawn?: true;
  /** Present only if another link was made in place of this one, which is EXPIRED or REVEALED. */
  replaced?: true;
  /** Present only if REVEALED. `valid_until`: the last day, YYYY-MM-DD (UTC). */
  card?: { code: string; pin?: string; valid_until?: string };
}
export const CODE_FORMATS = ['text', 'qr', 'code128'] as const;
export type CodeFormat = (typeof CODE_FORMATS)[number];
/**
 * The product of the card. Until the card is revealed, only the first three members are present: the others say how to
 * spend it.
 */
export interface ProductView {
  name: string;
  /** A `data:image/...` URL. */
  logo: string | null;
  /** `#rrggbb`; the contrast was checked when it was saved. */
  color: string | null;
  /** Plain text. */
  instructions?: string | null;
  redeem_url?: string | null;
  terms_url?: string | null;
  /** How the code is displayed in a shop. */
  code_format?: CodeFormat;
}
/** Expected errors are sent as codes, so that the page can show them. */
export type RewardLinkReply =
  | {
      link: RewardLinkView;
      brand: Brand | null;
      product: ProductView | null;
      /** The language of the product's texts, in canonical form; null without a product. */
      language: string | null;
      /** Unix seconds. Present only if the link was revealed before this request. */
      revealedAt?: number;
      error?: undefined;
    }
  | { error: 'LINK_NOT_FOUND' | 'LINK_EXPIRED'; link?: undefined; brand?: Brand | null };

/**
 * Returns the stand-ins of an erasure. After the response, events of the journey are stored with its stand-in.
 * Repeating the request for a journey returns the same stand-in; nothing is stored about a customer.
 */
export const BEGIN_ERASURE: RpcContract<ErasureSubject, StandIns> = {
  subject: 'analytics-query.erasure.begin',
  owner: 'analytics-query',
  callers: ['token-issuer'],
  serviceName: 'The event store',
};
/** Whether the app has erased everything about the person that it can find. The request is repeated until it has. */
export interface ErasedPart {
  isDone: boolean;
}
const erase = (owner: AppName, serviceName: string): RpcContract<Erasure, ErasedPart> => ({
  subject: `${owner}.erasure.erase`,
  owner,
  callers: ['token-issuer'],
  serviceName,
});
/** The contracts by app. token-issuer calls the event store last, because events of the other apps arrive there. */
export const ERASE = {
  console: erase('console', 'The console'),
  'gift-cards': erase('gift-cards', 'The gift-card service'),
  perks: erase('perks', 'The perk catalogue'),
  boost: erase('boost', 'Boost'),
  links: erase('links', 'The redirects'),
  'analytics-query': erase('analytics-query', 'The event store'),
  events: erase('events', 'The event feed'),
} as const;

/** Counts the events of each account in two weeks and in two days, and finds the last one, for the operators' home. */
export const COUNT_TRAFFIC: RpcContract<Record<string, never>, AccountTraffic> = {
  subject: 'analytics-query.traffic.count',
  owner: 'analytics-query',
  callers: ['console'],
  serviceName: 'The event store',
};
export interface AccountTraffic {
  /** Start of the earlier week, and end of the later one: the end of the current hour. Epoch milliseconds. */
  from: number;
  to: number;
  /** End of the later day: the start of the current hour, so that both days are complete. */
  dayTo: number;
  accounts: {
    account: string;
    events: number;
    eventsBefore: number;
    dayEvents: number;
    dayEventsBefore: number;
    /** The last event of the two weeks; epoch milliseconds. Missing from earlier releases. */
    lastAt?: number | null;
  }[];
}
/**
 * Lists the webhooks of an account. Without an account, those that need attention: enabled ones whose last attempts
 * failed, and those that the service disabled. `hasEnabled` says whether any webhook is enabled.
 */
export const LIST_WEBHOOK_STATES: RpcContract<
  { account?: string },
  { webhooks: WebhookState[]; hasEnabled?: boolean }
> = {
  subject: 'events.webhooks.states',
  owner: 'events',
  callers: ['console'],
  serviceName: 'The event service',
};
export interface WebhookState {
  account: string;
  id: string;
  /** Scheme and host of its URL, whose path may have a secret. */
  origin: string;
  enabled: boolean;
  /** Epoch milliseconds. */
  failingSince: number | null;
  disabledAt: number | null;
  /** Why it is disabled, or what its deliveries fail with. */
  reason: string | null;
  /** Deliveries that wait for their next attempt. */
  pending: number;
}

/** Counts links of an account by state. Ignores unknown ids. At most 1,000 ids. */
export const COUNT_LINK_STATES: RpcContract<{ account: string; ids: string[] }, LinkStates> = {
  subject: 'gift-cards.links.count-states',
  owner: 'gift-cards',
  callers: ['console'],
  serviceName: 'The gift-card service',
};
export interface LinkStates {
  waiting: number;
  opened: number;
  cancelled: number;
  expired: number;
}

/** Returns the states of links of an account by id. Omits unknown ids. At most 1,000 ids. */
export const LIST_LINK_STATES: RpcContract<{ account: string; ids: string[] }, { links: LinkWithState[] }> = {
  subject: 'gift-cards.links.states',
  owner: 'gift-cards',
  callers: ['console'],
  serviceName: 'The gift-card service',
};
export interface LinkWithState {
  id: string;
  state: keyof LinkStates;
  /** The link that replaced it. Absent in responses of earlier releases. */
  replacedBy?: string | null;
  /** ISO 8601. */
  openedAt: string | null;
  cancelledAt: string | null;
}

/**
 * Lists card values with their rates: those of an account, of pools, or of all. The first to run out comes first.
 * `low` selects low ones, up to 200.
 */
export const LIST_STOCK: RpcContract<StockQuery, { stocks: CardStock[] }> = {
  subject: 'gift-cards.stock.list',
  owner: 'gift-cards',
  callers: ['console'],
  serviceName: 'The gift-card service',
};
export interface StockQuery {
  account?: string | undefined;
  /** What consoles of earlier releases send instead of `pools`. */
  pool?: string | undefined;
  pools?: string[];
  low?: boolean;
}
/** `used` are links created in the days of the rate, minus those that ended unrevealed in that time. */
export interface CardStock extends StockRate {
  pool: string;
  account: string;
  /** The name of the pool's product. */
  product: string | null;
  denomination: number;
  currency: string;
  country: string;
}

/** Limits that `LIST_NEARLY_USED_LIMITS` lists. It omits those per journey or reference, which are usually used up. */
export const LISTED_LIMITS_PER = ['account', 'pool_id', 'campaign_id', 'created_by', 'key_id'] as const;

/**
 * Lists the limits of `LISTED_LIMITS_PER` of which at least 80 % is used in the current period, the most used first, up
 * to 200.
 */
export const LIST_NEARLY_USED_LIMITS: RpcContract<object, { limits: NearlyUsedLimit[] }> = {
  subject: 'gift-cards.limits.nearly-used',
  owner: 'gift-cards',
  callers: ['console'],
  serviceName: 'The gift-card service',
};
export interface NearlyUsedLimit {
  id: string;
  account: string;
  per: (typeof LISTED_LIMITS_PER)[number];
  /** The account, pool, campaign, creator or key whose links count. */
  value: string;
  /** The name of the product if the value is a pool that has one. */
  product: string | null;
  /** Epoch milliseconds; null for a limit without a period. */
  resetsAt: number | null;
  links: { limit: number; used: number } | null;
  amount: { limit: number; used: number; currency: string } | null;
}

/** Lists the perks whose single-use codes run low, the first to run out first, up to 200. */
export const LIST_LOW_CODES: RpcContract<object, { stocks: CodeStock[] }> = {
  subject: 'catalog.codes.low',
  owner: 'perks',
  callers: ['console'],
  serviceName: 'The perk catalogue',
};
export interface CodeStock extends StockRate {
  perk: string;
  title: string;
}

/** Counts the single-use codes that a customer of an account has. */
export const COUNT_CODES_OF_CUSTOMER: RpcContract<{ account: string; customer: string }, { codes: number }> =
  {
    subject: 'catalog.codes.count',
    owner: 'perks',
    callers: ['console'],
    serviceName: 'The perk catalogue',
  };

/** Every RPC contract of the fleet. The broker permissions are derived from it. */
export const RPC_CONTRACTS = [
  RESOLVE_KEYS,
  REPORT_KEY_USES,
  OPEN_CONSOLE_KEY,
  CLOSE_CONSOLE_KEYS,
  LIST_ACCOUNT_KEYS,
  ADD_ACCOUNT_KEY,
  ROTATE_ACCOUNT_KEY,
  REVOKE_ACCOUNT_KEY,
  RESOLVE_ACCOUNTS,
  RESOLVE_ORIGINS,
  RESOLVE_BRANDS,
  GET_ANALYTICS_KEYS,
  SIGN_STATEMENT,
  STORE_ADMIN_LOG,
  RESOLVE_OFFERS,
  RESOLVE_PERKS,
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  BEGIN_ERASURE,
  ...Object.values(ERASE),
  COUNT_TRAFFIC,
  LIST_WEBHOOK_STATES,
  COUNT_LINK_STATES,
  LIST_LINK_STATES,
  LIST_STOCK,
  LIST_NEARLY_USED_LIMITS,
  LIST_LOW_CODES,
  COUNT_CODES_OF_CUSTOMER,
] as const;
