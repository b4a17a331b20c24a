import { randomBytes, randomUUID } from 'node:crypto';
import type { Brand } from '@perkway/domain';
import { parseKeyring, signPayload } from '@perkway/signing';
import { http, testSecrets, trackedMessages, untilRelayed, waitFor } from '@perkway/testing';
import { aBody, EUR_25, GiftCards, linkIdOf, someCodes } from './support.js';

const aKeyring = (id: string) => `${id}:${randomBytes(32).toString('base64url')}`;

describe('recipients', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  it('need the exact token', async () => {
    const pool = await gift.aPool(1);
    const { token } = await gift.aLink(pool);
    const keyring = parseKeyring(testSecrets().rewardTokenKeys);
    const wrongTokens = [
      '',
      'x',
      token.slice(1),
      `${token}=`,
      `${token}A`,
      ` ${token}`,
      token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A'),
      token.toUpperCase(),
      'x'.repeat(100_000),
      // Correctly signed for a link that does not exist, correctly signed for another purpose, signed with another key.
      signPayload(keyring, 'reward-link', randomBytes(16)),
      signPayload(keyring, 'another', Buffer.from(linkIdOf(token), 'hex')),
      signPayload(parseKeyring(aKeyring('k1')), 'reward-link', Buffer.from(linkIdOf(token), 'hex')),
    ];
    for (const wrong of [...wrongTokens, 7, null, { a: 1 }, undefined] as string[]) {
      expect(await gift.open(wrong)).toEqual({ error: 'LINK_NOT_FOUND' });
      expect(await gift.reveal(wrong)).toEqual({ error: 'LINK_NOT_FOUND' });
    }
    expect((await gift.open(token)).link?.state).toBe('RESERVED');
  });

  it('see the value of the link, and its card only after the reveal', async () => {
    const pool = await gift.aPool(2, { denomination: 12.5, currency: 'GBP', country: 'GB' });
    const body = aBody({ denomination: 12.5, currency: 'GBP' });
    const [one, two] = [await gift.aLink(pool, { body }), await gift.aLink(pool, { body })];
    for (let round = 0; round < 3; round += 1)
      expect((await gift.open(one.token)).link).toEqual({
        state: 'RESERVED',
        denomination: 12.5,
        currency: 'GBP',
        country: 'GB',
        expires_at: body.expires_at,
      });
    await gift.expire(two.token);
    const expired = await gift.open(two.token);
    expect(expired.link).toMatchObject({ state: 'EXPIRED', denomination: 12.5, id: two.id });
    expect(expired.link).not.toHaveProperty('card');
    expect(await gift.reveal(two.token)).toEqual({ error: 'LINK_EXPIRED', brand: null });
  });

  it('see no PIN for a card without one', async () => {
    const pool = await gift.aPool(0);
    const [code] = someCodes(1);
    await gift.load(pool, JSON.stringify({ code, ...EUR_25 }));
    const { id, token } = await gift.aLink(pool);
    const { link } = await gift.reveal(token);
    expect(link?.card).toEqual({ code });
    expect(link?.id).toBe(id);
  });

  it('see the brand of the account, if it has one and the accounts app is reachable', async () => {
    const key = gift.newKey();
    const brand: Brand = { name: 'Harbour Bank', color: '#0b4f6c', logo: null };
    gift.accounts.setAccount(key.account, { brand });
    const pool = await gift.aPool(2, EUR_25, key.account);
    const { token } = await gift.aLink(pool, { apiKey: key.key });
    // A busy machine may be too slow to look up the brand for the first reply.
    await waitFor(async () => expect((await gift.open(token)).brand).toEqual(brand), 'the brand');
    expect((await gift.reveal(token)).brand).toEqual(brand);

    const other = gift.newKey();
    const pool2 = await gift.aPool(1, EUR_25, other.account);
    const link = await gift.aLink(pool2, { apiKey: other.key });
    await gift.accounts.close();
    expect(await gift.reveal(link.token)).toMatchObject({ link: { state: 'REVEALED' }, brand: null });
    expect((await gift.open(token)).brand).toEqual(brand);
  });
});

describe('key rotation', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  it('keeps existing links working', async () => {
    const { rewardTokenKeys, cardEncryptionKeys } = testSecrets();
    const pool = await gift.aPool(3);
    const options = { key: randomUUID(), body: aBody() };
    const old = await gift.aLink(pool, options);
    const oldRevealed = await gift.aLink(pool);
    const card = (await gift.reveal(oldRevealed.token)).link!.card;

    await gift.restartApp({
      REWARD_TOKEN_KEYS: `${aKeyring('new2')},${rewardTokenKeys}`,
      CARD_ENCRYPTION_KEYS: `${aKeyring('c2')},${cardEncryptionKeys}`,
    });
    expect((await gift.generate(pool, options)).body).toEqual(old);
    expect((await gift.open(oldRevealed.token)).link?.card).toEqual(card);
    expect((await gift.reveal(old.token)).link).toMatchObject({ state: 'REVEALED', card: { pin: '4071' } });

    await gift.addCards(pool, 2);
    const fresh = await gift.aLink(pool);
    expect(Buffer.from(fresh.token, 'base64url').toString('latin1', 2, 6)).toBe('new2');
    expect((await gift.reveal(fresh.token)).link?.card).toBeDefined();
    const keyIds = await gift.database.query<{ key_id: string; n: string }>(
      `select convert_from(substring(sealed from 3 for get_byte(sealed, 1)), 'utf8') as key_id, count(*) as n
       from cards group by 1 order by 1`,
    );
    expect(keyIds).toEqual([
      { key_id: 'c2', n: '2' },
      { key_id: 'k1', n: '3' },
    ]);
  });

  it('neither reveals nor redeems a card whose key was removed', async () => {
    const { rewardTokenKeys } = testSecrets();
    await gift.restartApp({});
    const pool = await gift.aPool(1);
    const options = { key: randomUUID(), body: aBody() };
    const { token } = await gift.aLink(pool, options);
    await gift.restartApp({ CARD_ENCRYPTION_KEYS: aKeyring('other') });
    await expect(gift.reveal(token)).rejects.toThrow('refused');
    expect(await gift.numbers(pool)).toMatchObject([{ reserved: 1, redeemed: 0 }]);
    await gift.restartApp({ REWARD_TOKEN_KEYS: aKeyring('other') });
    expect(await gift.open(token)).toEqual({ error: 'LINK_NOT_FOUND' });
    expect((await gift.generate(pool, options)).status).toBe(500);
    await gift.restartApp({ REWARD_TOKEN_KEYS: `${aKeyring('other')},${rewardTokenKeys}` });
    expect((await gift.reveal(token)).link?.state).toBe('REVEALED');
  });
});

describe('secrets', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  it('appear in no table, log, metric or event', async () => {
    const pool = await gift.aPool(0);
    const codes = await gift.addCards(pool, 20);
    const pins = someCodes(2).map((text) => `PIN-${text}`);
    const rows = pins.map((pin, index) => JSON.stringify({ code: `${codes[index]}-x`, pin, ...EUR_25 }));
    await gift.load(pool, `${rows.join('\n')}\n${rows[0]}\n${rows[0]!.replace('EUR', 'eur')}\n`);
    const links = await Promise.all(Array.from({ length: 10 }, () => gift.aLink(pool)));
    for (const { token } of links.slice(0, 5)) await gift.reveal(token);
    await gift.expire(links[9]!.token);
    await gift.reveal(links[9]!.token);
    const wrong = 'wrong-key-0123456789';
    await gift.get('/pools', wrong);
    await http(gift.app).get(`/pools?api_key=${gift.user.key}`);
    await gift.generate(pool, { key: links[0]!.token });
    await gift.get(`/pool/${links[0]!.token}`);
    await gift.open(`${links[0]!.token}A`);
    // Causes an error that is logged.
    await gift.database.query('alter table reward_links rename to hidden');
    expect((await gift.generate(pool)).status).toBe(500);
    await expect(gift.reveal(links[1]!.token)).rejects.toThrow('refused');
    await gift.database.query('alter table hidden rename to reward_links');
    await waitFor(() => gift.app.logs.join('').includes('"level":"error"'), 'the log of the error');
    await untilRelayed(gift.database);

    const tables = await gift.database.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'gift_cards' and table_type = 'BASE TABLE'`,
    );
    expect(tables.length).toBeGreaterThan(6);
    let dump = '';
    for (const { name } of tables) {
      const all = await gift.database.query<{ row: string }>(`select t::text as row from ${name} t`);
      dump += all.map(({ row }) => row).join('\n');
    }
    expect(dump).toContain(pool);
    const logs = gift.app.logs.join('');
    expect(logs).toContain('"level":"error"');
    const metrics = (await http(gift.app).get('/metrics')).text;
    const events = JSON.stringify(await trackedMessages(gift.nats.url));
    expect(events).toContain('"revealed"');

    const secrets = [
      ...codes,
      ...pins,
      ...links.map(({ token }) => token),
      gift.user.key,
      gift.admin.key,
      wrong,
      ...Object.values(testSecrets())
        .flatMap((text) => text.split(/[:,]/))
        .filter((text) => text.length >= 20),
    ];
    for (const [where, text] of Object.entries({ dump, logs, metrics, events }))
      for (const secret of secrets) {
        const spellings = [
          secret,
          Buffer.from(secret).toString('hex'),
          Buffer.from(secret).toString('base64').slice(0, -4),
        ];
        for (const spelling of spellings)
          if (text.toLowerCase().includes(spelling.toLowerCase()))
            throw new Error(`${where} contains ${spelling}`);
      }
  });
});
