import createClient from 'openapi-fetch';
import type { paths as GiftCards } from '@perkway/types/gift-cards';
import type { paths as Perks } from '@perkway/types/perks';
import type { components } from '@perkway/types/perks';

// Example code of an integrator with generated types. test/documents.spec.ts generates them and compiles this file under
// `strict`.

type Perk = components['schemas']['Perk'];

// @ts-expect-error A region is a string.
export const WRONG: components['schemas']['PutLocation'] = { country: 'FR', region: {} };

/** Stores a perk in the catalogue. */
export async function putPerk(baseUrl: string, adminKey: string, perkId: string): Promise<string> {
  const perks = createClient<Perks>({ baseUrl, headers: { 'X-API-Key': adminKey } });
  const { data, error } = await perks.PUT('/admin/perks/{perkId}', {
    params: { path: { perkId } },
    body: {
      title: 'Stay three nights, pay for two',
      description: '',
      callout: 'Third night free',
      redemption_note: '',
      details: '',
      offer_url: 'https://quillon.example/three-for-two',
      offer_slug: 'quillon-third-night-free',
      metadata: 'hotel city break',
      partner: { id: 'quillon', name: 'Quillon Stays' },
      categories: [],
      media: { banner: null },
      locations: [{ country: 'FR', region: 'Île-de-France' }],
    },
  });
  if (error) throw new Error(`${error.code}: ${(error.errors ?? []).map(({ field }) => field).join(', ')}`);
  return data.metadata;
}

/** Returns the title and the redirect target of each perk in a collection. */
export async function readCollection(
  baseUrl: string,
  apiKey: string,
  collectionId: string,
): Promise<string[]> {
  const perks = createClient<Perks>({ baseUrl, headers: { 'X-API-Key': apiKey } });
  const { data, error } = await perks.GET('/perk-collections/{collectionId}', {
    params: {
      path: { collectionId },
      query: { categories: [], location_country: 'FR', show_coupon_perks: true },
      header: { 'X-Disable-View-Tracking': 'true' },
    },
  });
  if (error) throw new Error(error.code);
  return data.perks.map(({ title, click_url, coupon = '' }: Perk) => `${title} ${coupon} ${click_url}`);
}

/** Returns a reward link, or the message for a recipient who cannot get one. */
export async function makeRewardLink(baseUrl: string, apiKey: string, poolId: string): Promise<string> {
  const gifts = createClient<GiftCards>({ baseUrl, headers: { 'X-API-Key': apiKey } });
  const { data, error } = await gifts.POST('/pool/{poolId}/reward-links', {
    params: {
      path: { poolId },
      query: { idempotencyKey: '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6a' },
      header: { 'X-Created-By': 'crm' },
    },
    body: { denomination: 25, currency: 'EUR', expires_at: Math.floor(Date.now() / 1000) + 3600 },
    parseAs: 'text',
  });
  // The union of this operation's error codes.
  if (error === 'NO_AVAILABLE_CARDS') return 'sold out';
  if (error) throw new Error(error);
  return data;
}
