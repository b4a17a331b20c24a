/**
 * Placeholder for the types that `npm run client:types` generates, which allows everything. Builds, type checks and the
 * package use the generated types.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Unknown = any;

export interface Documents {
  perks: Unknown;
  boost: Unknown;
  gift: Unknown;
  token: Unknown;
  analytics: Unknown;
  events: Unknown;
}
export type ErrorCode = string;
