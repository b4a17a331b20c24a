import type { Documents } from '@perkway/client/documents';

// Makes a type check that includes this file fail while the generated types are missing and the loose placeholder types
// are used instead.
type IsAny<T> = 0 extends 1 & T ? true : false;
type Typed = {
  [Host in keyof Documents]: IsAny<Documents[Host]> extends true
    ? '`npm run client:types` has not been run'
    : true;
};
export const TYPED: Typed = {
  perks: true,
  boost: true,
  gift: true,
  token: true,
  analytics: true,
  events: true,
};
