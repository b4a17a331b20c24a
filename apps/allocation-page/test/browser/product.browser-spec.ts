import { CARD, scrollsSideways, violations } from '@perkway/testing';
import { readFileSync } from 'node:fs';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { BrowserStage, screenshot, untilState } from './browser-stage.js';

const PRODUCT = {
  name: 'Fernway Books',
  logo: null,
  color: null,
  instructions: '<b>Show</b> it.\nThen pay.',
  redeem_url: 'https://fernway-books.example/redeem',
  terms_url: 'javascript:alert(1)',
  code_format: 'qr' as const,
};

let stage: BrowserStage;
let context: BrowserContext;
beforeAll(async () => {
  stage = await BrowserStage.start();
});
afterAll(() => stage?.stop());
beforeEach(async () => {
  context = await stage.window({ viewport: { width: 320, height: 640 } });
});
afterEach(() => context.close());

const requested = (name: string) =>
  stage.requests.filter(({ url }) => new URL(url).pathname.includes(name)).length;
const revealed = (product: Partial<typeof PRODUCT> | null, card = CARD): Promise<Page> =>
  stage.open(
    context,
    stage.gifts.addLink({ state: 'REVEALED', card }, null, product && { ...PRODUCT, ...product }),
    'revealed',
  );

describe('the product of the card', () => {
  it('loads the drawing script only for a revealed card that needs it', async () => {
    const page = await stage.open(context, stage.gifts.addLink({}, null, PRODUCT), 'reserved');
    expect(requested('drawing')).toBe(0);
    expect(await page.locator('[data-how], [data-link]').filter({ visible: true }).count()).toBe(0);
    expect(await page.locator('h1 + .product').filter({ visible: true }).allInnerTexts()).toEqual([
      PRODUCT.name,
    ]);
    await page.click('[data-reveal]');
    await page.waitForSelector('.qr');
    expect(requested('drawing')).toBe(1);
    const other = await context.newPage();
    await other.goto(stage.linkTo(stage.gifts.addLink({ state: 'REVEALED' })));
    await untilState(other, 'revealed');
    expect(await other.locator('[data-draw]').isVisible()).toBe(false);
    expect(requested('drawing')).toBe(1);
  });

  it('draws a QR code of the right size and the bars of Code 128', async () => {
    const qr = await revealed({});
    await qr.waitForSelector('.qr');
    // 19 characters fit into QR version 1: 21 modules, plus a quiet zone of 4 on each side.
    expect(await qr.getAttribute('.qr', 'viewBox')).toBe('0 0 29 29');
    const bars = await revealed({ code_format: 'code128' as never }, { code: 'AB-12', pin: '1' });
    await bars.waitForSelector('.bars');
    const [, , width] = (await bars.getAttribute('.bars', 'viewBox'))!.split(' ').map(Number);
    const path = (await bars.getAttribute('.bars path', 'd'))!;
    const dark = new Set<number>();
    for (const [, x, w] of path.matchAll(/M(\d+) 0h(\d+)/g))
      for (let at = 0; at < Number(w); at += 1) dark.add(Number(x) + at);
    const modules = Array.from({ length: width! }, (_, at) => (dark.has(at) ? '1' : '0')).join('');
    // Start B, A, B, -, 1, 2, the check (1*104 + 33 + 2*34 + 3*13 + 4*17 + 5*18 = 402; mod 103 = 93), stop: ISO/IEC
    // 15417.
    const symbols = [
      '11010010000',
      '10100011000',
      '10001011000',
      '10011011100',
      '10011100110',
      '11001110010',
      '10100011110',
      '1100011101011',
    ];
    expect(modules).toBe(`${'0'.repeat(10)}${symbols.join('')}${'0'.repeat(10)}`);
  });

  it.each([1, 3])(
    'draws bars of whole pixels, as wide as the card of a phone allows (%i pixels per CSS pixel)',
    async (deviceScaleFactor) => {
      await context.close();
      context = await stage.window({ viewport: { width: 360, height: 740 }, deviceScaleFactor });
      for (const code of [CARD.code, '6364530012345678901234']) {
        const page = await revealed({ code_format: 'code128' as never }, { code, pin: '1' });
        await page.waitForSelector('.bars');
        // The second window size is that of the phone turned by a quarter, and the third turned back.
        for (const width of [360, 740, 360]) {
          await page.setViewportSize({ width, height: 1_100 - width });
          await page.evaluate('new Promise(requestAnimationFrame)');
          const { modules, bars, height, room } = await page.evaluate<
            Record<'modules' | 'bars' | 'height' | 'room', number>
          >(`(() => {
            const bars = document.querySelector('.bars path').getBoundingClientRect();
            return {
              modules: document.querySelector('.bars').viewBox.baseVal.width,
              bars: bars.width * devicePixelRatio,
              height: bars.height,
              room: document.querySelector('[data-secret="code"]').clientWidth * devicePixelRatio,
            };
          })()`);
          const pixels = Math.floor(room / modules);
          expect(pixels).toBeGreaterThanOrEqual(deviceScaleFactor);
          // The quiet zone has 10 modules on each side.
          expect([width, bars / (modules - 20)]).toEqual([width, expect.closeTo(pixels, 3)]);
          expect(height).toBeGreaterThanOrEqual(80);
        }
      }
    },
  );

  it('shows only the text if the drawing script fails to load', async () => {
    await context.route('**/assets/drawing*', (route) => route.abort());
    const page = await revealed({});
    await page.waitForSelector('[data-fill="code"]');
    expect(await page.locator('[data-draw]').isVisible()).toBe(false);
    expect(await page.textContent('[data-fill="code"]')).toBe(CARD.code);
  });

  it('opens the shop in a new tab without a referrer', async () => {
    const page = await revealed({});
    const shop = page.locator('[data-link="shop"]');
    expect(
      await shop.evaluate((link: { href: string; target: string; rel: string }) => [
        link.href,
        link.target,
        link.rel,
      ]),
    ).toEqual([PRODUCT.redeem_url, '_blank', 'noopener noreferrer']);
    expect(await shop.innerText()).toMatch(/^Go to fernway-books\.example\b/);
    // Names the host that the link opens, whatever the URL has before it.
    const other = await revealed({ redeem_url: 'https://fernway-books.example@www.other.example:8443/x' });
    expect(await other.innerText('[data-link="shop"]')).toMatch(/^Go to other\.example\b/);
    // An invalid URL gets no link.
    expect(await page.locator('[data-link="terms"]').isVisible()).toBe(false);
    expect(await page.innerText('.instructions')).toBe(PRODUCT.instructions);
    // No line breaks at the hyphen of the host.
    const lines = await page.evaluate<number>(`{
      const range = document.createRange();
      range.selectNodeContents(document.querySelector('.host bdi'));
      range.getClientRects().length;
    }`);
    expect(lines).toBe(1);
    // Nor before the punctuation after it.
    expect(await page.textContent('[data-balance] .host')).toBe('fernway-books.example:');
  });

  it('has texts in the direction and language of its own', async () => {
    const token = stage.gifts.addLink({ state: 'REVEALED' }, null, {
      ...PRODUCT,
      name: 'بطاقة هدايا',
      instructions: 'أظهر الرمز عند الدفع.',
    });
    const page = await stage.open(context, token, 'revealed', '?lang=de');
    for (const selector of ['.instructions', '.product > bdi', '.face-brand']) {
      const styleOf = `getComputedStyle(document.querySelector('[data-when="revealed"] ${selector}, .card ${selector}'))`;
      expect([selector, await page.evaluate(`${styleOf}.direction`)]).toEqual([selector, 'rtl']);
    }
    // The language is that of the response, whatever the language of the page.
    expect(await page.getAttribute('.instructions', 'lang')).toBe('en');
    expect(await page.getAttribute('.label', 'lang')).toBeNull();
    // Readers of another language than that of the instructions get the page's words, too.
    expect(await page.innerText('[data-how]')).toMatch(
      /Online: Gehen Sie zu fernway-books\.example und geben Sie dort den Kartencode ein\.\s+Falls .+ PIN oben\.\s+Wie viel Guthaben .*\s+Hinweise des Ausstellers \(auf Englisch\)\s+أظهر الرمز عند الدفع\./,
    );
  });

  it('says what to do in the shop, or whom to ask, if it has no instructions', async () => {
    const ask =
      'To find out where you can use this card, reply to the message that contained the link and ask the sender.';
    const pin = 'If you are asked for a PIN, use the one above.';
    const how = (page: Page) => page.locator('[data-how]').filter({ visible: true }).allInnerTexts();
    expect(await how(await revealed(null))).toEqual([
      expect.stringMatching(`^How to use it\\s+${pin}\\s+${ask}$`),
    ]);
    const show = 'In a store: show the code above at the checkout.';
    const balance = 'To find out how much is left on the card, ask';
    const enter = `Online: go to ${new URL(PRODUCT.redeem_url).hostname} and enter the card code.`;
    expect(await how(await revealed({ instructions: null as never }))).toEqual([
      expect.stringMatching(
        `^How to use it\\s+${show}\\s+${enter}\\s+${pin}\\s+${balance} fernway-books.example: .+$`,
      ),
    ]);
    // A card without a PIN.
    expect(await how(await revealed({ instructions: null as never }, { code: CARD.code } as never))).toEqual([
      expect.not.stringContaining('PIN'),
    ]);
    // The code leads to the card itself.
    const address = { code: 'https://cards.example.com/redeem/0123456789' };
    const page = await revealed({ instructions: null as never }, address as never);
    const open =
      'Your card is at cards.example.com, on a page of its issuer: open the card link above and follow the steps on that page to use it.';
    const keep = 'Keep the card link until the whole value is spent.';
    const failed = 'If it still does not open, ask the sender for help and give the reference below.';
    expect(await how(page)).toEqual([
      expect.stringMatching(
        `^How to use it\\s+${open}\\s+${balance} cards.example.com: .+\\s+${keep} .+\\s+If the card .+ ${failed}$`,
      ),
    ]);
    expect(await page.innerText('#code-label')).toBe('Card link');
    expect(await page.innerText('[data-copy="code"]')).toBe('Copy link');
    expect(await page.innerText('.keep')).not.toContain('code');
    // Instructions of the issuer replace the words of the page.
    const other = await revealed({});
    expect(await how(other)).toEqual([
      expect.stringMatching(/^How to use it\s+From the issuer\s+<b>Show<\/b> it\.\nThen pay\.$/),
    ]);
    expect(await other.innerText('#code-label')).toBe('Card code');
    expect(await other.innerText('[data-copy="code"]')).toBe('Copy code');
    expect(await other.innerText('.keep')).toContain('Treat the code like cash');
  });

  it('breaks the code between groups, never before a hyphen, and copies it unchanged', async () => {
    for (const code of [
      CARD.code,
      'ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ12-3456',
      '1234567890123456789012345678901234567890',
    ]) {
      const page = await revealed(null, { code, pin: '1' });
      const lines = await page.evaluate<string[]>(`(() => {
        const tops = new Map();
        for (const span of document.querySelectorAll('[data-fill=code] span')) {
          const top = Math.round(span.getBoundingClientRect().top);
          tops.set(top, (tops.get(top) || '') + span.textContent);
        }
        return [...tops.values()];
      })()`);
      expect(lines.join('')).toBe(code);
      for (const line of lines.slice(1)) expect(line).not.toMatch(/^-/);
      if (code === CARD.code) expect(lines).toHaveLength(1);
      const [value, copy] = await Promise.all(
        ['[data-fill="code"]', '[data-copy="code"]'].map((selector) => page.locator(selector).boundingBox()),
      );
      expect(copy!.y).toBeGreaterThanOrEqual(value!.y + value!.height);
      await page.close();
    }
  });

  it.each([
    [360, 640, 'code128'],
    [390, 740, 'code128'],
    [1280, 800, 'code128'],
    [390, 740, 'qr'],
  ])('shows its code as large as a screen of %i by %i px (%s)', async (width, height, format) => {
    const page = await revealed({ code_format: format as 'qr' });
    await page.setViewportSize({ width, height });
    const small = (await page.locator('[data-draw] svg').boundingBox())!;
    await page.getByRole('button', { name: 'Enlarge the code' }).click();
    const large = (await page.locator('[data-large] svg').boundingBox())!;
    const typed = page.locator('.large-code');
    expect(await typed.innerText()).toMatch(new RegExp(`^${CARD.code}\\s+PIN ${CARD.pin}$`));
    // On a screen that is high, a barcode is turned with all that is below it: its length is the height then.
    const isTurned = format === 'code128' && height > width;
    const expectAbove = async (below: Locator) => {
      const box = (await below.boundingBox())!;
      if (isTurned) expect(box.x + box.width).toBeLessThanOrEqual(large.x);
      else expect(large.y + large.height).toBeLessThanOrEqual(box.y);
    };
    await expectAbove(typed);
    expect(isTurned ? large.height : large.width).toBeGreaterThan(1.2 * small.width);
    expect(large.x).toBeGreaterThanOrEqual(0);
    expect(large.x + large.width).toBeLessThanOrEqual(width);
    expect(large.y).toBeGreaterThanOrEqual(0);
    expect(large.y + large.height).toBeLessThanOrEqual(height);
    const close = page.getByRole('button', { name: 'Close' });
    await expectAbove(close);
    expect(await scrollsSideways(page)).toBe(false);
    expect(await violations(page)).toEqual([]);
    expect(await page.locator('dialog').isVisible()).toBe(true);
    await screenshot(page, `enlarged-${format}-${width}`);
    await close.click();
    expect(await page.locator('dialog').isVisible()).toBe(false);
    await page.close();
  });

  it('shows no PIN below the large code of a card without one', async () => {
    const page = await revealed({}, { code: CARD.code } as never);
    await page.getByRole('button', { name: 'Enlarge the code' }).click();
    expect(await page.innerText('.large-code')).toBe(CARD.code);
    await page.close();
  });

  it('is not shown large any more when another link is opened', async () => {
    const page = await revealed({});
    await page.getByRole('button', { name: 'Enlarge the code' }).click();
    const hash = new URL(stage.linkTo(stage.gifts.addLink({}, null, PRODUCT))).hash;
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await untilState(page, 'reserved');
    expect(await page.locator('dialog').isVisible()).toBe(false);
    await page.close();
  });

  it('can be saved as a picture that the browser creates, named after the reference', async () => {
    const page = await revealed({});
    await page.waitForSelector('.qr');
    const reference = await page.innerText('[data-fill="reference"]');
    const before = stage.requests.length;
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.waitForSelector('[data-save] >> text="The picture has been saved"'),
      page.click('[data-save]'),
    ]);
    expect(download.suggestedFilename()).toBe(`gift-card-${reference}.png`);
    const bytes = readFileSync(await download.path());
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    expect(bytes.readUInt32BE(16)).toBe(1080);
    await download.saveAs('artifacts/allocation-page/saved-picture.png');
    expect(stage.requests.slice(before).filter(({ url }) => !url.startsWith('blob:'))).toEqual([]);
  });

  it('is saved with its code in groups, short instructions, and a QR code of a web address', async () => {
    await context.addInitScript(`{
      window.painted = { texts: [], bars: 0 };
      const { fillText, fillRect } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        painted.texts.push(text);
        fillText.call(this, text, ...at);
      };
      CanvasRenderingContext2D.prototype.fillRect = function (...box) {
        if (this.fillStyle === '#000000') painted.bars += 1;
        fillRect.apply(this, box);
      };
    }`);
    const save = async (code: string) => {
      const page = await revealed({ code_format: 'text' as never }, { code, pin: '1' });
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('[data-save]')]);
      await download.saveAs(`artifacts/allocation-page/saved-picture-${code.length}.png`);
      return page.evaluate<{ texts: string[]; bars: number }>('painted');
    };
    const typed = await save('1234567890123456');
    expect(typed.texts).toEqual(
      expect.arrayContaining(['1234 5678 9012 3456', '<b>Show</b> it. Then pay.', 'fernway-books.example']),
    );
    expect(typed.bars).toBe(0);
    const address = await save('https://cards.example.com/redeem/0123456789');
    expect(address.texts).toContain('cards.example.com');
    expect(address.bars).toBeGreaterThan(100);
  });

  it('can be printed', async () => {
    const page = await revealed({});
    await page.evaluate('window.print = () => { window.printed = true }');
    await page.click('[data-print]');
    expect(await page.evaluate('window.printed')).toBe(true);
  });

  it('is requested in the language chosen on the page', async () => {
    const token = stage.gifts.addLink({}, null, PRODUCT);
    await stage.open(context, token, 'reserved', '?lang=fr');
    expect(stage.gifts.link(token).preference).toMatchObject({ lang: 'fr' });
  });

  it('no browser reported an error', () => {
    expect(stage.complaints).toEqual([]);
  });
});

it('a reader of other languages finds buttons to each version of the page, which keep the reward link', async () => {
  const arabic = await stage.window({ locale: 'ar' });
  const page = await arabic.newPage();
  const token = stage.gifts.addLink();
  await page.goto(stage.linkTo(token));
  await untilState(page, 'reserved');
  await page.click('.top nav [lang="fr"]');
  await untilState(page, 'reserved');
  expect(new URL(page.url())).toMatchObject({ search: '?lang=fr', hash: `#${token}` });
  expect(await page.locator('.top nav').count()).toBe(0);
  await arabic.close();
});
