/**
 * In place of the types that `npm run client:types` makes, where nobody has made them: everything goes. What is built,
 * checked and packed has the true ones.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Unknown = any;

export interface Documents {
  perks: Unknown;
  boost: Unknown;
  gift: Unknown;
  token: Unknown;
  analytics: Unknown;
}
export type ErrorCode = string;
