/** What the hosts answer, as far as screens show it. */
export interface Times {
  created_at: string;
  updated_at: string;
}

export interface Perk {
  id: string;
  title: string;
  description: string;
  callout: string;
  redemption_note: string;
  details: string;
  click_url: string;
  offer_slug: string;
  rank: number;
  coupon?: string;
  is_coupon_perk?: boolean;
  metadata: string;
  relations: {
    partner: { id: string; name: string };
    categories: { id: number; name: string; slug: string }[];
    media: { banner?: string | null; logo?: string | null };
    locations: Place[];
  };
}
export interface Place {
  country: string;
  region?: string | null;
  city?: string | null;
}
export interface PerkCollection {
  id: string;
  owner: string;
  groups: { id: string; name: string; rank: number; perks: Perk[] }[];
  perks: Perk[];
}

export interface Campaign extends Times {
  id: string;
  name: string;
  incentives: string[];
}
export interface StoredCampaign extends Campaign {
  owner: string;
}

export interface Inventory {
  denomination: number;
  currency: string;
  country: string;
  available: number;
  reserved: number;
  redeemed: number;
}
export type CodeFormat = 'text' | 'qr' | 'code128';
export interface Product {
  name: string;
  instructions?: string | null;
  redeem_url?: string | null;
  terms_url?: string | null;
  logo?: string | null;
  color?: string | null;
  code_format?: CodeFormat | null;
  translations?: Record<string, { name?: string; instructions?: string }> | null;
}
export interface Pool {
  id: string;
  owner: string;
  product: Product | null;
  inventories: Inventory[];
}
export type StoredPool = Pool & Times;

export interface RowReport {
  row: number;
  reason: string;
}
export interface CardLoad {
  id: string;
  state: 'running' | 'stalled' | 'finished' | 'failed';
  started_at: string;
  updated_at: string;
  rows: number;
  imported: number;
  duplicates: number;
  rejected: number;
  rejected_rows?: RowReport[];
  duplicate_rows?: RowReport[];
}

export type LinkState = 'RESERVED' | 'REVEALED' | 'EXPIRED';
export interface RewardLink {
  id: string;
  pool_id: string;
  state: LinkState;
  denomination: number;
  currency: string;
  country: string;
  created_by: string;
  created_at: string;
  expires_at: number;
  revealed_at: string | null;
  cancelled_at: string | null;
  campaign_id: string | null;
  journey_id: string | null;
  reference: string | null;
}
export interface LinkJob {
  id: string;
  state: 'running' | 'done' | 'failed' | 'stopped';
  total: number;
  made: number;
  failed: { row: number; code: string }[];
  /** Why the job as a whole has ended early. */
  code: string | null;
  pool_id: string;
  campaign_id: string | null;
  denomination: number;
  currency: string;
  expires_at: number;
  created_at: string;
  created_by: string;
}

export type KeyRole = 'USER' | 'ADMIN' | 'JOURNEY';
export interface ApiKey {
  id: string;
  role: KeyRole;
  name: string | null;
  last4: string | null;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}
export interface Person {
  email: string;
  role: 'USER' | 'ADMIN';
}
export interface Account extends Times {
  id: string;
  name: string;
  allowed_origins: string[];
  brand: { name: string; color?: string | null; logo?: string | null; support_url?: string | null } | null;
}

export interface Category extends Times {
  id: number;
  slug: string;
  name: string;
  translations: Record<string, { name?: string }>;
}
export interface StoredPerk extends Times {
  id: string;
  title: string;
  description: string;
  callout: string;
  redemption_note: string;
  details: string;
  offer_url: string;
  offer_slug: string;
  coupon?: string;
  is_coupon_perk: boolean;
  metadata: string;
  partner: { id: string; name: string };
  categories: number[];
  media: { banner: string | null; logo: string | null };
  locations: Place[];
  translations: Record<string, Record<string, string>>;
}
export interface StoredCollection extends Times {
  id: string;
  owner: string;
  groups: {
    id: string;
    name: string;
    rank: number;
    translations?: Record<string, { name?: string }>;
    perks: { id: string; rank: number }[];
  }[];
}

export interface AuditEntry {
  id: string;
  at: string;
  account_id: string;
  key_id: string | null;
  person: string | null;
  actor: string;
  status: number | null;
  action: string;
  host: string;
  path: string;
  before: unknown;
  after: unknown;
}

export interface Health {
  apps: { name: string; state: 'up' | 'down' | 'degraded'; latency_ms: number | null }[];
  outbox: { app: string; buffered: number; oldest_seconds: number }[];
  dead_letters: number | null;
  consumers: { stream: string; name: string; pending: number; ack_pending: number }[];
  checked_at: string;
}

export interface ReportSummary {
  id: string;
  title: string;
  campaign_id: string;
  as_of: string;
  expires_at: string;
  revoked_at: string | null;
  created_by: string;
}
