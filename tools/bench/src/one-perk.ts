import { AccountSetup, OFFER as OFFERS } from '@perkway/test-fleet';
import type { Fleet } from './fleet.js';

/** The account of benchmarks with a single perk. */
const ACCOUNT = 'bench-account';
export const OFFER = `${OFFERS}/one`;
/** A browser's headers, so that the visit counts as human. */
export const BROWSER = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
};

/** Creates the account and the perk `one`, which redirects to the offer. */
export async function onePerk(fleet: Fleet): Promise<{ setup: AccountSetup; key: string }> {
  const setup = new AccountSetup(fleet.admin, ACCOUNT);
  await setup.putPerks(['one']);
  return { setup, key: (await setup.aKey()).key };
}
