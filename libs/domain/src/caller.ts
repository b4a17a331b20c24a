/**
 * USER: a client's servers. ADMIN: the platform, including management calls. JOURNEY: pages of a client's website,
 * readable by anyone in the browser; only for the customer journey and reads of perks.
 */
export const ROLES = ['USER', 'ADMIN', 'JOURNEY'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The caller of a request. The explicit first argument of every service method that reads or writes an account's data.
 */
export interface Caller {
  /** The account that owns the API key; every query filters by it. */
  account: string;
  role: Role;
  keyId: string;
  requestId: string;
}
