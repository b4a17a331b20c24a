import { authEnv } from '@perkway/auth';
import { baseUrl, databaseEnv, platformEnv, secret } from '@perkway/platform';
import { parseKeyring, type Keyring } from '@perkway/signing';
import { makeValidator, type CleanedEnv } from 'envalid';

/** Its messages name positions and key ids, never a secret. */
const keyring = makeValidator<Keyring>((input) => {
  try {
    return parseKeyring(input, 'the keyring');
  } catch (error) {
    throw new Error(`must be kid:secret[,kid:secret...]: ${(error as Error).message}`, { cause: error });
  }
});

export const giftCardsEnv = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  REWARDS_URL: baseUrl({ desc: 'Public address of the Allocation Page' }),
  REWARD_TOKEN_KEYS: keyring({
    desc: 'Signs the tokens of reward links. A key stays for as long as links made with it are to work',
  }),
  CARD_ENCRYPTION_KEYS: keyring({
    desc: 'Encrypts card codes. A key stays for as long as cards loaded with it exist',
  }),
  CARD_HASH_KEY: secret({
    desc: 'Finds a card code that is loaded again. Never changes, or such codes are no longer found',
  }),
};

export type GiftCardsEnv = CleanedEnv<typeof giftCardsEnv>;
