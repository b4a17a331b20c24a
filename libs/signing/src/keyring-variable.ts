import { makeValidator } from 'envalid';
import { parseKeyring } from './keyring.js';

/** An environment variable that holds a keyring. Neither its value nor a part of it appears in a message. */
export const keyringVariable = makeValidator((input: string) => {
  try {
    return parseKeyring(input);
  } catch (error) {
    throw new Error(`must be kid:secret[,kid:secret]: ${(error as Error).message}`, { cause: error });
  }
});
