import type { Documents } from '@perkway/client/documents';

// Part of the programs of all that use the client: none of them can be checked, and nothing can be packed, with the loose
// types that stand in for those of the documents while nobody has made them.
type IsAny<T> = 0 extends 1 & T ? true : false;
type Typed = {
  [Host in keyof Documents]: IsAny<Documents[Host]> extends true
    ? '`npm run client:types` has not been run'
    : true;
};
export const TYPED: Typed = { perks: true, boost: true, gift: true, token: true, analytics: true };
