/**
 * Lower-cases an address for comparison. A non-ASCII letter whose lower-case form contains an ASCII letter (the Kelvin
 * sign becomes `k`) is kept, because the result would be another address, which may belong to somebody else.
 */
export const foldEmail = (email: string): string =>
  Array.from(email, (letter) => {
    const small = letter.toLowerCase();
    return letter > '\x7f' && /[\0-\x7f]/.test(small) ? letter : small;
  }).join('');
