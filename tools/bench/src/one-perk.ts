import type { Fleet } from './fleet.js';

/** The account of benchmarks with a single perk. */
export const ACCOUNT = 'bench-account';
export const OFFER = 'https://partner.example/offer/1';
/** A browser's headers, so that the visit counts as human. */
export const BROWSER = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
};

/** Creates the account and the perk `one`, which redirects to the offer. @returns the account's key */
export async function onePerk(fleet: Fleet): Promise<string> {
  await fleet.admin('perks', 'PUT', '/admin/categories/1', { slug: 'travel', name: 'Travel' });
  await fleet.admin('perks', 'PUT', '/admin/perks/one', {
    title: 'A perk',
    description: 'A description.',
    callout: '20 % off',
    redemption_note: '',
    details: '',
    offer_url: OFFER,
    offer_slug: 'one',
    partner: { id: 'partner', name: 'Partner' },
    categories: [1],
  });
  return fleet.account(ACCOUNT);
}
