/**
 * Lower-cases an address for comparison. A non-ASCII letter whose lower-case form is ASCII (the Kelvin sign becomes
 * `k`) is kept, because that is a different address and may belong to somebody else.
 */
export const foldEmail = (email: string): string =>
  Array.from(email, (letter) => {
    const small = letter.toLowerCase();
    return letter > '\x7f' && /[\0-\x7f]/.test(small) ? letter : small;
  }).join('');
