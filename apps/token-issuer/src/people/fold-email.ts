/**
 * An address as it is compared, without case. A letter beyond ASCII whose small form is ASCII (the Kelvin sign becomes `k`)
 * stays as it is: that is another address, and may be another's.
 */
export const foldEmail = (email: string): string =>
  Array.from(email, (letter) => {
    const small = letter.toLowerCase();
    return letter > '\x7f' && /[\0-\x7f]/.test(small) ? letter : small;
  }).join('');
