import { makeValidator } from 'envalid';
import { parseKeyring } from './keyring.js';

/** Validates an environment variable with a keyring. Errors contain no part of a secret. */
export const keyringVariable = makeValidator((input: string) => {
  try {
    return parseKeyring(input);
  } catch (error) {
    throw new Error(`must be kid:secret[,kid:secret]: ${(error as Error).message}`, { cause: error });
  }
});
