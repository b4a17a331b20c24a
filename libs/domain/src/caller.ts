/**
 * USER: a client's servers. ADMIN: the platform, management calls too. JOURNEY: the pages of a client's web site, in browsers
 * for everybody to read: the customer journey and the reads of perks, nothing else.
 */
export const ROLES = ['USER', 'ADMIN', 'JOURNEY'] as const;
export type Role = (typeof ROLES)[number];

/** Who is calling. The explicit first argument of every service method that reads or writes an account's data. */
export interface Caller {
  /** The account that owns the API key; it is in every `where`. */
  account: string;
  role: Role;
  keyId: string;
  requestId: string;
}
