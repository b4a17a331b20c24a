import type { RewardLinkReply } from '@perkway/domain';
import { http } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import type { Pool } from '../src/pools/pool.dto.js';
import { EUR_25, GiftCards } from './support.js';

const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const FULL = {
  name: 'Harbour Books gift card',
  instructions: 'Enter the code when you pay.',
  redeem_url: 'https://harbour-books.example/redeem?from=gift',
  terms_url: 'https://harbour-books.example/terms',
  logo: LOGO,
  color: '#0b4f6c',
  code_format: 'qr',
  translations: { fr: { name: 'Carte Harbour Books' }, 'pt-BR': { instructions: 'Digite o código.' } },
};
const BARE = {
  instructions: null,
  redeem_url: null,
  terms_url: null,
  logo: null,
  color: null,
  code_format: 'text',
  translations: {},
};

async function productOf(requested: Promise<RewardLinkReply>) {
  const reply = await requested;
  if (reply.error) throw new Error(reply.error);
  return reply.product;
}

describe('the product of a pool', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  const put = (id: string, product: unknown) =>
    http(gift.app, gift.admin).put(`/admin/pools/${id}`).send({ owner: gift.user.account, product });
  const withProduct = async (product: unknown, cards = 0) => {
    const id = await gift.aPool(cards);
    await put(id, product).expect(200);
    return id;
  };

  it('is stored as a whole, shown to the account, and removed when omitted', async () => {
    const id = randomUUID();
    expect((await put(id, FULL).expect(200)).body).toMatchObject({ id, product: FULL });
    // With two entries the numbers span two rows, but the product appears once.
    await gift.addCards(id, 1);
    await gift.addCards(id, 1, { ...EUR_25, country: 'DE' });
    const pool = (await gift.get<Pool>(`/pool/${id}`)).body;
    expect(pool).toMatchObject({ product: FULL, inventories: [{ country: 'DE' }, { country: 'FR' }] });
    expect((await gift.get<Pool[]>('/pools')).body).toContainEqual(pool);
    for (const none of [null, undefined]) {
      expect((await put(id, none).expect(200)).body.product).toBeNull();
      expect((await gift.get<Pool>(`/pool/${id}`)).body.product).toBeNull();
      await put(id, FULL).expect(200);
    }
  });

  it('requires only a name and fills in defaults', async () => {
    const { body } = await put(randomUUID(), { name: 'A card', color: '#ABCDEF', translations: null });
    expect(body.product).toEqual({ ...BARE, name: 'A card', color: '#abcdef' });
    await put(randomUUID(), { ...BARE, name: 'x'.repeat(100), instructions: 'ü'.repeat(2_000) }).expect(200);
  });

  it.each<[string, unknown]>([
    ['product', 'a card'],
    ['product', []],
    ['product.name', {}],
    ['product.name', { name: '' }],
    ['product.name', { name: 'x'.repeat(101) }],
    ['product.name', { name: 'a\0b' }],
    ['product.instructions', { ...FULL, instructions: 'x'.repeat(2_001) }],
    ['product.redeem_url', { ...FULL, redeem_url: 'javascript:alert(1)' }],
    ['product.redeem_url', { ...FULL, redeem_url: 'https://me:secret@shop.example' }],
    ['product.terms_url', { ...FULL, terms_url: '/terms' }],
    ['product.logo', { ...FULL, logo: 'https://shop.example/logo.png' }],
    ['product.logo', { ...FULL, logo: 'data:text/html;base64,PGI+' }],
    ['product.color', { ...FULL, color: '#777777' }],
    ['product.code_format', { ...FULL, code_format: 'ean13' }],
    ['product.translations', { ...FULL, translations: { fr: { name: 'x'.repeat(101) } } }],
    ['product.translations', { ...FULL, translations: { 'not a tag': { name: 'x' } } }],
  ])('is rejected for an invalid %s', async (_field, product) => {
    const id = randomUUID();
    const { text } = await put(id, product).expect(400);
    expect(text).toContain('VALIDATION_FAILED');
    expect((await gift.get(`/pool/${id}`)).status).toBe(404);
  });

  it('shows recipients its name and look, and how to spend the card only after the reveal', async () => {
    const { token } = await gift.aLink(await withProduct(FULL, 2));
    const { name, logo, color, instructions, redeem_url, terms_url, code_format } = FULL;
    const sealed = { name, logo, color };
    expect(await gift.open(token)).toMatchObject({ link: { state: 'RESERVED' }, language: 'en' });
    expect(await productOf(gift.open(token))).toEqual(sealed);
    const opened = { ...sealed, instructions, redeem_url, terms_url, code_format };
    expect(await productOf(gift.reveal(token))).toEqual(opened);
    expect(await productOf(gift.reveal(token))).toEqual(opened);
    expect(await productOf(gift.open(token))).toEqual(opened);
    const other = await gift.aLink(await withProduct(FULL, 1));
    await gift.expire(other.token);
    expect(await gift.open(other.token)).toMatchObject({ link: { state: 'EXPIRED' } });
    expect(await productOf(gift.open(other.token))).toEqual(sealed);
  });

  it.each([
    [{}, 'en', FULL.name, FULL.instructions],
    [{ acceptLanguage: 'fr-CA, en;q=0.5' }, 'fr', 'Carte Harbour Books', FULL.instructions],
    [{ acceptLanguage: 'PT-br' }, 'pt-BR', FULL.name, 'Digite o código.'],
    [{ acceptLanguage: 'fr', lang: 'en' }, 'en', FULL.name, FULL.instructions],
    [{ acceptLanguage: 'ar' }, 'en', FULL.name, FULL.instructions],
    [{ lang: 7, acceptLanguage: {} }, 'en', FULL.name, FULL.instructions],
  ])('is localized for the recipient: %j gives %s', async (preference, language, name, instructions) => {
    const { token } = await gift.aLink(await withProduct(FULL, 1));
    expect(await gift.reveal(token, preference as object)).toMatchObject({
      language,
      product: { name, instructions },
    });
  });

  it('is null if the pool has none', async () => {
    const { token } = await gift.aLink(await gift.aPool(1));
    expect(await gift.open(token)).toMatchObject({ product: null, language: null });
  });
});
