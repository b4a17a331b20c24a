import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiParam, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { CALLER_ID_PATTERN } from '@perkway/domain';
import { MAX_CATEGORY_ID } from '../categories/category-id.js';

const media = {
  banner: 'https://media.quillon.example/perks/three-for-two.jpg',
  logo: 'https://media.quillon.example/brand/logo.svg',
};
const travel = { id: 1, name: 'Travel & Stays', slug: 'travel' };
const relations = {
  partner: { id: 'quillon', name: 'Quillon Stays' },
  categories: [travel],
  media,
  locations: [{ country: 'FR', region: 'Île-de-France', city: 'Paris' }, { country: 'DE' }],
};
const clickUrl = 'https://links.perkway.example/c/AWsxAAAAAAAAAZskUQyAR3kq-example';

export const AUTOMATIC_PERK = {
  id: 'quillon-third-night',
  title: 'Stay three nights, pay for two',
  description: 'Book three nights or more and the cheapest of every three is free.',
  callout: 'Third night free',
  redemption_note: 'The free night is deducted automatically on the booking page.',
  details: 'For stays that include at least one night from Sunday to Thursday.',
  click_url: clickUrl,
  offer_slug: 'quillon-third-night-free',
  rank: 1,
  metadata: 'hotel city break boutique',
  relations,
};
const STATIC_COUPON_PERK = {
  ...AUTOMATIC_PERK,
  id: 'quillon-late-checkout',
  title: 'Late checkout and a welcome drink',
  offer_slug: 'quillon-late-checkout-drink',
  rank: 2,
  coupon: 'SLOWMORNING',
};
const SINGLE_USE_PERK = {
  ...AUTOMATIC_PERK,
  id: 'quillon-alpine-spa',
  title: 'A day at the spa',
  offer_slug: 'quillon-alpine-spa-day',
  rank: 3,
  is_coupon_perk: true,
};

export const PERK_EXAMPLES = {
  automatic: { summary: 'Automatically applied', value: AUTOMATIC_PERK },
  staticCoupon: { summary: 'Static coupon', value: STATIC_COUPON_PERK },
  singleUse: { summary: 'Single-use code', value: SINGLE_USE_PERK },
};
export const COLLECTION_EXAMPLE = {
  id: 'ostervale-travel',
  owner: 'ostervale-bank',
  groups: [
    {
      id: '5a0c7f5e-3d1b-4b55-9a57-0c2f4f0a1b01',
      name: 'Sleep well',
      rank: 1,
      perks: [AUTOMATIC_PERK, STATIC_COUPON_PERK],
    },
  ],
  perks: [AUTOMATIC_PERK, STATIC_COUPON_PERK],
};
export const CATEGORY_EXAMPLES = [travel, { id: 2, name: 'Food & Drink', slug: 'food-drink' }];

const CONTENT_HEADERS = {
  ETag: { description: 'Changes if anything but a `click_url` changes', schema: { type: 'string' as const } },
  'Content-Language': { description: 'The language of the response', schema: { type: 'string' as const } },
  Vary: { description: '`Accept-Language`', schema: { type: 'string' as const } },
};

/** Documents a 200 response with this JSON schema, and the 304 response to a conditional request. */
export const ApiContent = (
  schema: object,
  examples: Record<string, { summary?: string; value: unknown }>,
  description: string,
) =>
  applyDecorators(
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'An ETag of an earlier response: 304 without a body if the content has not changed',
      schema: { type: 'string' },
    }),
    ApiResponse({
      status: 200,
      description,
      headers: CONTENT_HEADERS,
      content: { 'application/json': { schema, examples } },
    }),
    ApiResponse({
      status: 304,
      description: 'The content is unchanged. Each `click_url` of the earlier response remains valid.',
      headers: CONTENT_HEADERS,
    }),
  );

const idInPath = (name: string) => () =>
  ApiParam({ name, schema: { type: 'string', pattern: CALLER_ID_PATTERN } });
export const ApiCollectionId = idInPath('collectionId');
export const ApiPerkId = idInPath('perkId');

export const ApiViewTracking = () =>
  ApiHeader({
    name: 'X-Disable-View-Tracking',
    required: false,
    description:
      '`true` or `1`: do not count this read as a customer view (for content sync and other background jobs)',
    schema: { type: 'string', enum: ['true', '1'] },
  });

const place = (name: string, what: string) =>
  ApiQuery({
    name,
    required: false,
    description: `Only perks that are eligible in this ${what}; case-insensitive`,
    schema: { type: 'string', minLength: 1, maxLength: 100 },
  });

export const ApiFilters = () =>
  applyDecorators(
    ApiQuery({
      name: 'categories',
      required: false,
      description: 'Only perks in any of these categories; repeatable',
      explode: true,
      schema: { type: 'array', items: { type: 'integer', minimum: 1, maximum: MAX_CATEGORY_ID } },
    }),
    place('location_country', 'country'),
    place('location_region', 'region'),
    place('location_city', 'city'),
    ApiQuery({
      name: 'show_coupon_perks',
      required: false,
      description: 'Include single-use coupon perks',
      schema: { type: 'boolean', default: false },
    }),
  );
