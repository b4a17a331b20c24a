/**
 * USER: a client's servers. ADMIN: all that USER may, and management calls. JOURNEY: pages of a client's website, where
 * anyone can read the key; only for the customer journey and reads of perks.
 */
export const ROLES = ['USER', 'ADMIN', 'JOURNEY'] as const;
export type Role = (typeof ROLES)[number];

/** The operations that a key with scopes may call. Scopes narrow a role and never widen it. */
export const SCOPES = [
  'perks:read',
  'journeys:write',
  'links:create',
  'links:read',
  'links:cancel',
  'pools:read',
  'analytics:read',
  'events:read',
  'webhooks:write',
] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * The caller of a request. The explicit first argument of service methods that read or write data of the caller's
 * account; methods that manage accounts take the id of an account instead.
 */
export interface Caller {
  /** The account that owns the API key; queries filter by it unless a management call names another account. */
  account: string;
  role: Role;
  keyId: string;
  /** The first key of a chain of rotations, under which limits count; `keyId` for a key that was not rotated. */
  countedAs: string;
  /** If missing, the key may do what its role may. */
  scopes?: readonly Scope[] | undefined;
  requestId: string;
}
