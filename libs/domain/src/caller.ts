export type Role = 'USER' | 'ADMIN';

/** Who is calling. The explicit first argument of every service method that reads or writes an account's data. */
export interface Caller {
  /** The account that owns the API key; it is in every `where`. */
  account: string;
  role: Role;
  keyId: string;
  requestId: string;
}
