import type { BrowserContext, Page } from 'playwright-core';
import { CARD, aLinkToken, scrollsSideways, untilEarlyInAMinute, violations } from '@perkway/testing';
import { BrowserStage, screenshot, untilState, untilStill } from './browser-stage.js';

const LOGO = `data:image/svg+xml,${encodeURIComponent(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 40'><circle cx='20' cy='20' r='20' fill='#c2410c'/></svg>",
)}`;
const BRAND = {
  name: 'Harbour Bank',
  color: '#0b4f6c',
  logo: LOGO,
  support_url: 'https://harbour-bank.example/help',
};
const PRODUCT = {
  name: 'Fernway Books and Maps',
  logo: LOGO,
  color: '#7a1f3d',
  instructions: 'In the shop: show the code.\nOnline: enter it when you pay.',
  redeem_url: 'https://fernway-books.example/redeem',
  terms_url: 'https://fernway-books.example/terms',
  code_format: 'qr' as const,
};

/** The states whose card has a shop to go to; in the others, the main button copies the code. */
const REDEEMED_IN_SHOP = [
  'revealed-product-qr',
  'revealed-product-code128',
  // Its code is a web address.
  'revealed-long-code',
  'revealed-address-german',
];
const SHOP_BUTTON = /^(?:Go to|Weiter zu|Aller sur) (?:fernway-books\.example|cards\.example\.com)/;
const COPY_BUTTON = /^Copy code$/;

const LINK_ID = '0198a6c2-7b1e-7c55-9d3f-2f6f1f0f8a11';
/** Says what Perkway is, where the page cannot name the sender. */
const ABOUT =
  /^Perkway delivers gift cards for companies and runs this page\. Your gift card comes from the sender of the message with this link: please ask them if you have questions\. If you do not know who sent it, you need not open the card: it then goes back to the sender\. This page never asks for a payment, a password or personal data\.$/m;
const ASK_SENDER = /If you still cannot open it, ask the sender of the message with the link\.$/m;
interface Box {
  scrollHeight: number;
  clientHeight: number;
}

const COLOR_SCHEMES = ['light', 'dark'] as const;

let stage: BrowserStage;
beforeAll(async () => {
  stage = await BrowserStage.start();
});
afterAll(() => stage?.stop());

/** Holds every API request without a response. */
const hang = (page: Page) => page.route('**/api/**', () => {});

/** How to reach each state, and the texts that a person then reads. */
const STATES: Record<
  string,
  { shows: (page: Page) => Promise<unknown>; reads: RegExp[]; readsNot?: RegExp }
> = {
  loading: {
    shows: async (page) => {
      await hang(page);
      await page.goto(stage.linkTo(stage.gifts.addLink()));
      await untilState(page, 'loading');
    },
    reads: [/^Looking for your gift card…$/m],
  },
  'loading-slowly': {
    shows: async (page) => {
      await hang(page);
      await page.goto(stage.linkTo(stage.gifts.addLink()));
      await page.waitForSelector('[data-when="loading"] [data-slow]', { state: 'visible' });
    },
    reads: [/Your connection seems slow/],
  },
  reserved: {
    shows: async (page) => {
      await stage.show(
        page,
        stage.gifts.addLink({ denomination: 25, currency: 'EUR', country: 'FR' }),
        'reserved',
      );
    },
    reads: [
      /^A gift from the company that sent you this link$/m,
      /gift card worth €25/,
      /^France$/m,
      /Open it by\s+\d+ \w+ 20\d\d at \S+ CES?T \(in \d+ days\)/,
      /^If you do not open the card by then, it goes back to the sender\.$/m,
      ABOUT,
      /^Open the card$/m,
    ],
  },
  'reserved-brand': {
    shows: async (page) => {
      const brand = { name: 'Harbour Books', color: '#c2410c', logo: LOGO };
      const token = stage.gifts.addLink({ denomination: 49.5, currency: 'USD', country: 'US' }, brand);
      await stage.show(page, token, 'reserved');
    },
    reads: [/^A gift from Harbour Books$/m, /worth US\$49\.50/, /^United States$/m],
  },
  'reserved-brand-german': {
    shows: async (page) => {
      const brand = { name: 'Sunny & Sons Wholesale Trading Company', color: '#ffd400', logo: null };
      const token = stage.gifts.addLink({ denomination: 1_000_000, currency: 'VND', country: 'VN' }, brand);
      await stage.show(page, token, 'reserved', '?lang=de');
      // The amount does not reach the bow.
      const end = await page.evaluate<number>(`{
        const range = document.createRange();
        range.selectNodeContents(document.querySelector('.face-amount'));
        range.getBoundingClientRect().right;
      }`);
      expect(end).toBeLessThanOrEqual((await page.locator('.bow').boundingBox())!.x);
    },
    reads: [/^Ein Geschenk von Sunny & Sons/m, /1\.000\.000\s₫/, /^Karte öffnen$/m],
  },
  revealing: {
    shows: async (page) => {
      await stage.show(page, stage.gifts.addLink(), 'reserved');
      await hang(page);
      await page.click('[data-reveal]');
      await untilState(page, 'revealing');
    },
    reads: [/^Opening…$/m],
  },
  'revealing-slowly': {
    shows: async (page) => {
      await STATES.revealing!.shows(page);
      await page.waitForSelector('[data-when="revealing"] [data-slow]', { state: 'visible' });
    },
    reads: [/^Opening…$/m, /^Your connection seems slow/m],
  },
  revealed: {
    shows: async (page) => {
      await stage.show(page, stage.gifts.addLink(), 'reserved');
      await page.click('[data-reveal]');
      await untilState(page, 'revealed');
      // The card appears with an animation of a third of a second.
      await untilStill(page);
    },
    reads: [
      /^A gift from the company that sent you this link$/m,
      /^Here is your €25 gift card$/m,
      new RegExp(CARD.code),
      new RegExp(`PIN\\s+${CARD.pin}`),
      /^Card expires on\s+The issuer gives no date$/m,
      /^Keep the link to this page$/m,
      /^It has no deadline any more: it shows the card at any time, but not/m,
      /^Reference for support\s+[0-9a-f]{8}$/m,
    ],
    readsNot: /This card has been replaced|First opened|Opened at/,
  },
  'revealed-long-code': {
    shows: async (page) => {
      const card = { code: 'https://cards.example.com/redeem/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ' };
      await stage.show(page, stage.gifts.addLink({ state: 'REVEALED', card }), 'revealed');
      await untilStill(page);
    },
    reads: [
      /https:\/\/cards\.example\.com\/redeem\/0123456789/,
      /^How to use it\s+Your card is at cards\.example\.com, on a page of its issuer: open the card link above/m,
    ],
    readsNot: /checkout|enter the card code/,
  },
  'revealed-address-german': {
    shows: async (page) => {
      const card = { code: 'https://cards.example.com/redeem/0123456789' };
      const link = stage.gifts.addLink({ state: 'REVEALED', card }, BRAND, PRODUCT);
      await stage.show(page, link, 'revealed', '?lang=de');
      await untilStill(page);
    },
    reads: [
      /^Ihre Karte finden Sie bei cards\.example\.com, auf einer Seite ihres Ausstellers: Öffnen Sie den Link/m,
      /^Wie viel Guthaben noch auf der Karte ist, erfahren Sie bei cards\.example\.com: Perkway weiß es nicht\.$/m,
      /bitten Sie Harbour Bank um Hilfe und nennen Sie die Referenz unten\.$/m,
      /^Hinweise des Ausstellers \(auf Englisch\)\s+In the shop: show the code\.$/m,
    ],
    readsNot: /an der Kasse|geben Sie dort den Kartencode ein/,
  },
  'reserved-product': {
    shows: async (page) => {
      await stage.show(page, stage.gifts.addLink({}, BRAND, PRODUCT), 'reserved');
    },
    reads: [
      /^A gift from Harbour Bank$/m,
      /worth €25\s+Fernway Books and Maps$/m,
      /^Get help from Harbour Bank \(harbour-bank\.example\)/m,
      /^Perkway delivers gift cards for Harbour Bank and runs this page\. If you are not sure that it is genuine, contact Harbour Bank through its official website\. This page never/m,
    ],
    readsNot: /Gift card|Reference/,
  },
  'reserved-product-swiss': {
    shows: async (page) => {
      const product = { ...PRODUCT, name: 'Geschenkkarte Donaudampfschifffahrt Harbour Books' };
      const link = { denomination: 25, currency: 'CHF', country: 'CH' };
      await stage.show(page, stage.gifts.addLink(link, BRAND, product), 'reserved', '?lang=de');
      const word = await page.evaluate<number>(`{
        const range = document.createRange();
        range.setStart(document.querySelector('.face-brand').firstChild, 0);
        range.setEnd(range.startContainer, 'Geschenkkarte'.length);
        range.getClientRects().length;
      }`);
      expect(word).toBe(1);
      // The whole title is on the card.
      for (const part of ['.face', '.face-brand'])
        expect(await page.$eval(part, (box: Box) => box.scrollHeight - box.clientHeight)).toBeLessThanOrEqual(
          1,
        );
    },
    reads: [
      /^Sie haben eine Geschenkkarte über CHF 25$/m,
      /^Einlösbar in diesem Land\s+Schweiz$/m,
      /Das Guthaben bleibt unberührt/,
      /^Perkway stellt Geschenkkarten im Auftrag von Harbour Bank zu und betreibt diese Seite\. .*Diese Seite verlangt nie eine Zahlung/m,
    ],
  },
  'revealed-product-qr': {
    shows: async (page) => {
      await stage.show(page, stage.gifts.addLink({ state: 'REVEALED' }, BRAND, PRODUCT), 'revealed');
      await page.waitForSelector('.qr');
      await untilStill(page);
    },
    reads: [
      /^A gift from Harbour Bank$/m,
      new RegExp(CARD.code),
      /^Print$/m,
      /^Save as picture$/m,
      /^How to use it$/m,
      /^In the shop: show the code\.$/m,
      /^Go to fernway-books\.example/m,
      /Terms of the card/,
      /Get help from Harbour Bank/,
    ],
  },
  'revealed-product-code128': {
    shows: async (page) => {
      const product = { ...PRODUCT, code_format: 'code128' as const, color: '#ffd400', logo: null };
      const card = { code: '6364530012345678901234', pin: '4071' };
      await stage.show(
        page,
        stage.gifts.addLink({ state: 'REVEALED', card }, BRAND, product),
        'revealed',
        '?lang=de',
      );
      await page.waitForSelector('.bars');
      await untilStill(page);
    },
    reads: [/^So lösen Sie die Karte ein$/m, /^Drucken$/m, /^Weiter zu fernway-books\.example/m],
  },
  'expired-brand': {
    shows: async (page) => {
      await stage.show(
        page,
        stage.gifts.addLink({ expires_at: 1_700_000_000, id: LINK_ID }, BRAND, PRODUCT),
        'expired',
      );
    },
    reads: [
      /^Its value was not spent: .+ Please ask Harbour Bank for a new link\.$/m,
      new RegExp(`^Reference for support\\s+${LINK_ID.slice(0, 8)}$`, 'm'),
      /^Gift card\s+€25 Fernway Books and Maps$/m,
      /Get help from Harbour Bank/,
      /^Perkway delivers gift cards for Harbour Bank and runs this page\. If you are not sure that it is genuine, contact Harbour Bank through its official website\. This page never/m,
    ],
  },
  cancelled: {
    shows: async (page) => {
      const brand = { ...BRAND, name: 'Ostervale' };
      const link = { expires_at: 1_700_000_000, cancelled: true as const };
      await stage.show(page, stage.gifts.addLink(link, brand, PRODUCT), 'cancelled', '?lang=fr');
    },
    reads: [
      /^Ce lien a été annulé$/m,
      /Contactez Ostervale\.$/m,
      /Obtenir de l’aide auprès d’Ostervale/,
      /pour le compte d’Ostervale et gère cette page\./,
    ],
  },
  withdrawn: {
    shows: async (page) => {
      const link = { expires_at: 1_700_000_000, cancelled: true, withdrawn: true } as const;
      await stage.show(page, stage.gifts.addLink(link, BRAND, PRODUCT), 'withdrawn');
    },
    reads: [/^This gift card has been withdrawn$/m, /Please ask Harbour Bank for a new link\.$/m],
  },
  replaced: {
    shows: async (page) => {
      const link = { expires_at: 1_700_000_000, cancelled: true, replaced: true } as const;
      await stage.show(page, stage.gifts.addLink(link), 'replaced', '?lang=de');
    },
    reads: [/^Dieser Link wurde ersetzt$/m, /Für Sie gibt es einen neuen Link/],
  },
  'revealed-replaced': {
    shows: async (page) => {
      const link = { state: 'REVEALED', replaced: true, revealedAt: 1_700_000_000 } as const;
      const card = { ...CARD, valid_until: '2027-12-31' };
      await stage.show(page, stage.gifts.addLink({ ...link, card }, BRAND, PRODUCT), 'revealed', '?lang=fr');
      await untilStill(page);
    },
    reads: [/^Cette carte a été remplacée$/m, /^Utilisez la nouvelle carte/m, /^Afficher l’ancienne carte$/m],
    readsNot: new RegExp(`${CARD.code}|Voici votre carte|Date d’expiration|Ouverte pour la première fois`),
  },
  'revealed-replaced-unfolded': {
    shows: async (page) => {
      await STATES['revealed-replaced']!.shows(page);
      await page.click('summary');
      // The unfolded card fades in.
      await untilStill(page);
    },
    reads: [
      new RegExp(CARD.code),
      /^Cette carte a été remplacée$/m,
      /^Utilisez la nouvelle carte : vous trouverez le lien/m,
      /Date d’expiration\s+31 décembre 2027/,
      /Ouverte pour la première fois le\s+14 novembre 2023 à 23:13/,
      /^Si ce n’était pas vous, .+ Demandez de l’aide à Harbour Bank\.$/m,
    ],
    readsNot: /Voici votre carte|Comment l’utiliser|Imprimer|Aller sur|Conservez/,
  },
  'reserved-foreign': {
    shows: async (page) => {
      await page.route('**/*', (route) =>
        route.continue({ headers: { ...route.request().headers(), 'accept-language': 'ar-EG, ar;q=0.9' } }),
      );
      await stage.show(page, stage.gifts.addLink({}, BRAND, PRODUCT), 'reserved');
    },
    reads: [
      /^This page is available in English$/m,
      /^Cette page existe en français$/m,
      /^Diese Seite gibt es auf Deutsch$/m,
      /^Esta página está disponible en español$/m,
    ],
  },
  expired: {
    shows: async (page) => {
      await stage.show(page, stage.gifts.addLink({ expires_at: 1_700_000_000 }), 'expired');
    },
    reads: [/^This link has expired$/m, /by 14 November 2023 at 23:13 CET/],
  },
  unknown: {
    shows: async (page) => {
      await stage.show(page, aLinkToken(), 'unknown');
    },
    reads: [/^This link does not work$/m, /^Your gift link$/m, ASK_SENDER, ABOUT],
    readsNot: /Reference/,
  },
  missing: {
    shows: async (page) => {
      await page.goto(stage.url);
      await untilState(page, 'missing');
    },
    reads: [/^Your gift link is incomplete$/m, /^Your gift link$/m, ASK_SENDER, ABOUT],
  },
  'missing-wrong-paste': {
    shows: async (page) => {
      await page.goto(stage.url);
      await untilState(page, 'missing');
      await page.fill('#link', 'my gift card');
      await page.press('#link', 'Enter');
    },
    reads: [/does not look like a gift link/],
  },
  unreachable: {
    shows: async (page) => {
      await stage.gifts.close();
      try {
        await page.goto(stage.linkTo(stage.gifts.addLink()));
        await untilState(page, 'unreachable');
      } finally {
        await stage.gifts.start();
      }
    },
    reads: [
      /^We cannot reach your card right now$/m,
      /Your gift card is safe and your link stays valid, even if you were just opening the card\.$/m,
      /this page also tries again by itself\.$/m,
      /^Try again$/m,
    ],
  },
  busy: {
    shows: async (page) => {
      const token = aLinkToken();
      await page.goto(stage.linkTo(token));
      await untilEarlyInAMinute();
      await page.evaluate(
        `(async () => {
          const send = () => fetch('/api/reward-link', { headers: { authorization: 'Bearer ${token}' } });
          for (let isBusy = false; !isBusy;) {
            const all = await Promise.all(Array.from({ length: 60 }, send));
            isBusy = all.some(({ status }) => status === 429);
          }
        })()`,
      );
      await page.reload();
      await untilState(page, 'busy');
    },
    reads: [
      /^Please wait a minute$/m,
      /^Too many invalid gift links were opened from your network in a short time/m,
      /^Your gift card is safe, and your link stays as it is\. Please try again in a minute\.$/m,
      /^Try again$/m,
    ],
    readsNot: /your link still works/,
  },
};

describe.each([
  [320, 640],
  [1280, 800],
])('at %s px', (width, height) => {
  let context: BrowserContext;

  beforeEach(async () => {
    context = await stage.window({ viewport: { width, height } });
  });
  afterEach(() => context.close());

  it.each(Object.keys(STATES))(
    'shows "%s", accessible and inside the window, in light and dark',
    async (state) => {
      const { shows, reads, readsNot } = STATES[state]!;
      const page = await context.newPage();
      await shows(page);

      for (const colorScheme of COLOR_SCHEMES) {
        await page.emulateMedia({ colorScheme });
        const text = (await page.innerText('body')).replace(/[\u00a0\u202f]/g, ' ');
        for (const expected of reads) expect(text).toMatch(expected);
        if (readsNot) expect(text).not.toMatch(readsNot);
        await screenshot(page, `${state}-${width}-${colorScheme}`);
        expect(await violations(page)).toEqual([]);
        expect(await scrollsSideways(page)).toBe(false);
        if (width > 1000)
          expect(await page.locator('footer nav').boundingBox()).toMatchObject({ height: 44 });
        // A link that shows no card shows a picture in its place.
        expect(await page.locator('.face').isVisible()).toBe(/^(?:loading|reserved|reveal)/.test(state));
        // The button is on the first screen of a small phone. The list of languages may push it down.
        if (/^reserved(?!-foreign)/.test(state)) {
          // What Perkway is stands next to the button, once.
          expect(text.match(/^Perkway .{40}/gm)).toHaveLength(1);
          expect(await page.locator('.panel .small:has-text("Perkway")').isVisible()).toBe(true);
          const { y, height: tall } = (await page.locator('[data-reveal]').boundingBox())!;
          expect(y + tall).toBeLessThanOrEqual(height);
        }
        // One heading and one primary button.
        expect(await page.locator('h1:visible').count()).toBe(1);
        const main = await page.locator('.main:visible').allInnerTexts();
        expect(main.length).toBeLessThanOrEqual(1);
        if (state.startsWith('revealed-replaced')) expect(main).toEqual([]);
        else if (state.startsWith('revealed'))
          expect(main).toEqual([
            expect.stringMatching(REDEEMED_IN_SHOP.includes(state) ? SHOP_BUTTON : COPY_BUTTON),
          ]);
        if (!state.startsWith('loading') && !state.startsWith('revealing'))
          expect(await page.title()).toBe(await page.innerText('h1:visible'));
      }
    },
  );

  it('keeps the card in its place when it is revealed', async () => {
    const page = await context.newPage();
    const product = { ...PRODUCT, name: 'Geschenkkarte Donaudampfschifffahrt Harbour Books' };
    await stage.show(page, stage.gifts.addLink({}, BRAND, product), 'reserved');
    const before = await page.locator('.face').boundingBox();
    await page.click('[data-reveal]');
    await untilState(page, 'revealed');
    await page.evaluate('scrollTo(0, 0)');
    const after = await page.locator('.face').boundingBox();
    expect(after).toEqual({ ...before, height: after!.height });
    // A phone shows it as a strip.
    if (width > 1000) expect(after).toEqual(before);
    else expect(after!.height).toBeLessThan(before!.height * 0.8);
  });

  it('explains that JavaScript is off, in the language that the reader chooses', async () => {
    const plain = await stage.window({ viewport: { width, height }, javaScriptEnabled: false });
    const page = await plain.newPage();
    const token = stage.gifts.addLink();
    await page.goto(stage.linkTo(token));

    const text = await page.innerText('body');
    expect(text).toContain('This page needs JavaScript');
    expect(text).not.toContain('Looking for your gift card');
    expect(text).toMatch(ASK_SENDER);
    expect(text).toMatch(ABOUT);
    // The buttons of the other languages keep the link.
    await page.click('nav >> text=Français');
    await page.waitForSelector('h1:text-is("Cette page nécessite JavaScript")');
    expect(page.url()).toBe(stage.linkTo(token, '?lang=fr'));
    for (const colorScheme of COLOR_SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await screenshot(page, `no-script-${width}-${colorScheme}`);
    }
    expect(await page.locator('h1:visible').count()).toBe(1);
    await plain.close();
  });
});

describe('in special conditions', () => {
  it.each([
    [360, 640],
    [375, 667],
  ])(
    'shows the code and its drawing on the first screen of a phone of %i by %i px',
    async (width, height) => {
      const context = await stage.window({ viewport: { width, height } });
      for (const language of ['en', 'fr', 'de', 'es'])
        for (const [format, drawing] of [
          ['qr', '.qr'],
          ['code128', '.bars'],
        ] as const) {
          // Without a brand, a line says who the gift is from. It is longest in German.
          const brand = language === 'de' ? null : BRAND;
          const link = stage.gifts.addLink({}, brand, { ...PRODUCT, code_format: format });
          const page = await stage.open(context, link, 'reserved', `?lang=${language}`);
          await page.click('[data-reveal]');
          await untilState(page, 'revealed');
          await page.waitForSelector(drawing);
          await untilStill(page);
          for (const selector of ['[data-fill="code"]', drawing]) {
            const { y, height: tall } = (await page
              .locator(`[data-secret="code"] ${selector}`)
              .boundingBox())!;
            expect([language, selector, y >= 0 && y + tall <= height]).toEqual([language, selector, true]);
          }
          expect(await page.evaluate<number>('scrollY')).toBe(0);
          if (language === 'en') await screenshot(page, `revealed-${format}-${width}`);
          // The code also when a line above it says when the card was first opened.
          stage.gifts.link(link).revealedAt = 1_700_000_000;
          await page.reload();
          await untilState(page, 'revealed');
          await page.waitForSelector('.opened:not(:empty)');
          const code = (await page.locator('[data-secret="code"] [data-fill="code"]').boundingBox())!;
          expect([language, code.y + code.height <= height]).toEqual([language, true]);
          if (format === 'qr') await screenshot(page, `opened-before-${language}-${width}`);
          await page.close();
        }
      await context.close();
    },
  );

  it('shows the code on the first screen of a phone on its side', async () => {
    const context = await stage.window({ viewport: { width: 740, height: 340 } });
    for (const brand of [BRAND, null]) {
      const link = stage.gifts.addLink({ state: 'REVEALED' }, brand, PRODUCT);
      const page = await stage.open(context, link, 'revealed');
      await page.waitForSelector('.qr');
      await untilStill(page);
      const { y, height } = (await page.locator('[data-secret="code"] .value').boundingBox())!;
      expect(y + height).toBeLessThanOrEqual(340);
      await screenshot(page, `revealed-740-${brand ? 'brand' : 'no-brand'}`);
    }
    await context.close();
  });

  it.each(['en', 'fr', 'de', 'es'])('fits 320 px in %s, in every state', async (language) => {
    const context = await stage.window({ viewport: { width: 320, height: 568 } });
    const brand = { name: 'Donaudampfschifffahrtsgesellschaft mbH', color: '#0b4f6c', logo: LOGO };
    const query = `?lang=${language}`;
    const page = await stage.open(
      context,
      stage.gifts.addLink({ denomination: 123_456.78, currency: 'XOF', country: 'GS' }, brand),
      'reserved',
      query,
    );
    const sideways: [string, boolean][] = [['reserved', await scrollsSideways(page)]];
    await page.click('[data-reveal]');
    await untilState(page, 'revealed');
    sideways.push(['revealed', await scrollsSideways(page)]);
    const pinLines = await page.evaluate(`{
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('[data-fill="pin"]'));
      range.getClientRects().length;
    }`);
    expect(pinLines).toBe(1);
    for (const [state, token] of [
      ['expired', stage.gifts.addLink({ expires_at: 1_700_000_000 })],
      [
        'replaced',
        stage.gifts.addLink({ expires_at: 1_700_000_000, cancelled: true, replaced: true }, brand),
      ],
      [
        'withdrawn',
        stage.gifts.addLink({ expires_at: 1_700_000_000, cancelled: true, withdrawn: true }, brand),
      ],
      ['unknown', aLinkToken()],
    ] as const) {
      const other = await stage.open(context, token, state, query);
      sideways.push([state, await scrollsSideways(other)]);
    }
    expect(sideways.filter(([, isWider]) => isWider)).toEqual([]);
    await screenshot(page, `revealed-320-${language}`);
    await context.close();
  });

  it.each(['reserved-brand-german', 'revealed-product-qr', 'revealed-product-code128', 'unknown'])(
    'fits a phone with text of twice the size, as "%s"',
    async (state) => {
      const context = await stage.window({ viewport: { width: 390, height: 844 } });
      const page = await context.newPage();
      await STATES[state]!.shows(page);
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      await screenshot(page, `${state}-390-large-text`);
      expect(await scrollsSideways(page)).toBe(false);
      const cut = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.name, .face-amount, .panel p, h1, dd, button, a, code')]
          .filter((box) => box.clientWidth > 1 && box.scrollWidth > box.clientWidth + 1)
          .map((box) => box.outerHTML)`,
      );
      expect(cut).toEqual([]);
      await context.close();
    },
  );

  it('supports right-to-left languages', async () => {
    const context = await stage.window({ viewport: { width: 360, height: 740 } });
    const page = await stage.open(context, stage.gifts.addLink(), 'reserved');
    await page.evaluate("document.documentElement.dir = 'rtl'");

    const mark = (await page.locator('.logo').boundingBox())!;
    expect(mark.x).toBeGreaterThan(180);
    await screenshot(page, 'reserved-360-rtl');
    expect(await violations(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);

    await page.click('[data-reveal]');
    await untilState(page, 'revealed');
    // The code itself stays left-to-right.
    expect(
      await page.evaluate("getComputedStyle(document.querySelector('[data-fill=code]')).direction"),
    ).toBe('ltr');
    await screenshot(page, 'revealed-360-rtl');
    expect(await scrollsSideways(page)).toBe(false);
    await context.close();
  });

  it.each(COLOR_SCHEMES)(
    'prints the card, its PIN, its shop, how to use it and where its terms are, without the buttons (%s)',
    async (colorScheme) => {
      const context = await stage.window({ viewport: { width: 794, height: 1123 }, colorScheme });
      const page = await context.newPage();
      await STATES['revealed-product-qr']!.shows(page);
      await page.emulateMedia({ media: 'print', colorScheme });
      const text = await page.innerText('body');
      for (const expected of [
        CARD.code,
        CARD.pin,
        'Fernway Books and Maps',
        'In the shop: show the code.',
        'A gift from Harbour Bank',
        'Go to fernway-books.example',
        'Card expires on',
        'Reference for support',
        'Terms of the card',
      ])
        expect(text).toContain(expected);
      for (const gone of [
        'Copy',
        'Print',
        'Save as picture',
        'Keep the link to this page',
        'Deutsch',
        'button',
      ])
        expect(text).not.toContain(gone);
      const after = 'getComputedStyle(document.querySelector(\'[data-link="terms"]\'), "::after").content';
      expect(await page.evaluate(after)).toContain('https://fernway-books.example/terms');
      expect(await page.locator('.qr').isVisible()).toBe(true);
      expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(0, 0, 0)');
      await screenshot(page, `revealed-printed-${colorScheme}`);
      const document = (await page.pdf({ format: 'A4' })).toString('latin1');
      expect(document.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
      await context.close();
    },
  );

  it('shows no animations if the reader prefers reduced motion', async () => {
    const context = await stage.window({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    await STATES.loading!.shows(page);
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    const other = await context.newPage();
    await STATES.revealing!.shows(other);
    expect(await other.evaluate('document.getAnimations().length')).toBe(0);
    await context.close();
  });

  it("stays readable in a system's high-contrast colors", async () => {
    const context = await stage.window({ forcedColors: 'active', viewport: { width: 360, height: 740 } });
    const page = await stage.open(context, stage.gifts.addLink(), 'reserved');
    await screenshot(page, 'reserved-360-forced-colors');
    expect(await violations(page)).toEqual([]);

    // The code for scanners stays black on white.
    const dark = await stage.open(
      context,
      stage.gifts.addLink({ state: 'REVEALED' }, null, PRODUCT),
      'revealed',
    );
    await dark.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    await dark.waitForSelector('.qr');
    const colorsOf = (ground: string) =>
      dark.evaluate(
        `['backgroundColor', 'fill'].map((name, at) => getComputedStyle(document.querySelectorAll('${ground}, ${ground} .qr')[at])[name])`,
      );
    const BLACK_ON_WHITE = ['rgb(255, 255, 255)', 'rgb(0, 0, 0)'];
    expect(await colorsOf('[data-draw]')).toEqual(BLACK_ON_WHITE);
    await dark.click('[data-enlarge]');
    expect(await colorsOf('dialog')).toEqual(BLACK_ON_WHITE);
    await screenshot(dark, 'enlarged-360-forced-colors');
    await context.close();
  });

  it('no browser reported an error', () => {
    expect(stage.complaints).toEqual([]);
  });
});
