import type { BrowserContext, Page } from 'playwright-core';
import { CARD, scrollsSideways } from '@perkway/testing';
import { BrowserStage, screenshot, untilState } from './browser-stage.js';

let stage: BrowserStage;
let context: BrowserContext;

beforeAll(async () => {
  stage = await BrowserStage.start();
});
afterAll(() => stage?.stop());
beforeEach(async () => {
  context = await stage.window();
});
afterEach(() => context.close());

const REVEAL = '[data-reveal]';
const codeOf = (page: Page) => page.innerText('[data-fill="code"]');
const evaluated = <T>(page: Page, expression: string) => page.evaluate<T>(expression);
const iconOf = (page: Page) => page.getAttribute('link[rel="icon"]', 'href');
/** Name of the focused element, and the last text announced to screen readers. */
const focused = (page: Page) =>
  evaluated<string>(page, 'document.activeElement.innerText || document.activeElement.tagName');
const announced = (page: Page, text: string) =>
  page.waitForSelector(`[role="status"]:text-is("${text}")`, { state: 'attached' });

/** Compares the requests of pages: the app sends a call again if a busy machine has not answered it in time. */
const expectReveals = (token: string, expected: { sent: number; revealed: number }) =>
  expect({ sent: stage.revealsOf(token), revealed: stage.gifts.link(token).revealCount }).toEqual(expected);

describe('revealing', () => {
  it('happens on a click, and the link keeps showing the card', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    expect(stage.gifts.link(token).revealRequests).toBe(0);

    await page.click(REVEAL);
    await untilState(page, 'revealed');
    expect(await codeOf(page)).toBe(CARD.code);
    expect(await page.innerText('[data-fill="pin"]')).toBe(CARD.pin);
    expect(await page.isVisible('[data-opened]')).toBe(false);

    await page.reload();
    await untilState(page, 'revealed');
    expect(await codeOf(page)).toBe(CARD.code);
    // Probably the same person, for example in another language.
    expect(await page.locator('.opened:visible').innerText()).toMatch(/^Opened at \d\d:\d\d$/);
    expect(await page.isVisible('[data-opened]')).toBe(false);

    stage.gifts.link(token).revealedAt = 1_700_000_000;
    await page.reload();
    await untilState(page, 'revealed');
    expect(await page.locator('.opened:visible').innerText()).toBe(
      'First opened 14 Nov 2023, 23:13. Not you? Somebody else may have used the code.',
    );
    expect(await page.innerText('[data-opened]')).toMatch(
      /^First opened on\s+\d+ \w+ 20\d\d at \S+ CES?T\s+If that was not you, .+ ask the sender for help\.$/,
    );
    expectReveals(token, { sent: 1, revealed: 1 });
    expect(page.url()).toBe(stage.linkTo(token));
  });

  it.each(['Enter', 'Space'])('happens on the key %s, with a visible focus throughout', async (key) => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    await announced(page, 'You have a gift card worth €25');

    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Open the card');
    expect(await evaluated(page, 'getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press(key);
    await untilState(page, 'revealed');

    // The focus is on the heading; the code and its button follow.
    expect(await focused(page)).toBe('Here is your €25 gift card');
    expect(await page.title()).toBe('Here is your €25 gift card');
    await announced(page, '');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Copy code');
    expectReveals(token, { sent: 1, revealed: 1 });
  });

  it('does not happen when a script clicks or presses keys', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    await evaluated(
      page,
      `{
        const button = document.querySelector('${REVEAL}');
        button.click();
        button.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        button.focus();
        for (const type of ['keydown', 'keypress', 'keyup'])
          button.dispatchEvent(new KeyboardEvent(type, { key: 'Enter', bubbles: true }));
      }`,
    );
    await page.waitForTimeout(500);
    expect(stage.gifts.link(token)).toMatchObject({ revealRequests: 0, view: { state: 'RESERVED' } });
  });

  it('sends one request for a double click', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    let release!: () => void;
    const clicked = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/reveal', (route) => clicked.then(() => route.continue()));
    await page.dblclick(REVEAL);
    await page.click(REVEAL, { force: true });
    release();
    await untilState(page, 'revealed');
    expectReveals(token, { sent: 1, revealed: 1 });
  });

  it('shows the same card in two tabs', async () => {
    const token = stage.gifts.addLink();
    const [one, other] = await Promise.all([
      stage.open(context, token, 'reserved'),
      stage.open(context, token, 'reserved'),
    ]);
    await Promise.all([one.click(REVEAL), other.click(REVEAL)]);
    await Promise.all([untilState(one, 'revealed'), untilState(other, 'revealed')]);
    expect([await codeOf(one), await codeOf(other)]).toEqual([CARD.code, CARD.code]);
    expect(stage.gifts.link(token).revealCount).toBe(1);
  });

  it('shows the card again after the back button', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    await page.click(REVEAL);
    await untilState(page, 'revealed');
    await page.goto('about:blank');
    await page.goBack();
    await untilState(page, 'revealed');
    expect(await codeOf(page)).toBe(CARD.code);
    expectReveals(token, { sent: 1, revealed: 1 });
  });

  it('does not happen on the back button', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    await page.goto('about:blank');
    await page.goBack();
    await untilState(page, 'reserved');
    expect(stage.gifts.link(token).revealRequests).toBe(0);
  });

  it('reports that the link has expired', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    stage.gifts.link(token).view.expires_at = 1_700_000_000;
    await page.click(REVEAL);
    await untilState(page, 'expired');
    expect(await page.innerText('main')).toContain('14 November 2023');
    expect(await focused(page)).toBe('This link has expired');
    expectReveals(token, { sent: 1, revealed: 0 });
  });

  it('ends when the link expires while the page is open', async () => {
    const token = stage.gifts.addLink({ expires_at: Math.floor(Date.now() / 1000) + 20 });
    const page = await stage.open(context, token, 'reserved');
    expect(await page.innerText('[data-fill="left"]')).toMatch(/^\(in \d+ seconds?\)$/);
    await untilState(page, 'expired', 60_000);
    await announced(page, 'This link has expired');
  });

  it('shows a code as text, not as markup', async () => {
    const card = { code: '<img src=x onerror="document.title=1">&amp;' };
    const page = await stage.open(context, stage.gifts.addLink({ state: 'REVEALED', card }), 'revealed');
    expect(await codeOf(page)).toBe(card.code);
    expect(await page.isVisible('[data-secret="pin"]')).toBe(false);
  });
});

describe('copying', () => {
  const revealed = async () => stage.open(context, stage.gifts.addLink({ state: 'REVEALED' }), 'revealed');

  /** The page itself may not read the clipboard, so this pastes elsewhere. */
  const clipboard = async () => {
    const elsewhere = await context.newPage();
    await elsewhere.setContent('<textarea autofocus></textarea>');
    await elsewhere.focus('textarea');
    await elsewhere.keyboard.press('Control+V');
    return elsewhere.inputValue('textarea');
  };

  it('puts code and PIN on the clipboard, and confirms it visibly and to screen readers', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.url });
    const page = await revealed();

    // The confirmations show for seconds only.
    await Promise.all([
      page.waitForSelector('[data-copy="code"] >> text="Copied"'),
      announced(page, 'Copied'),
      page.click('[data-copy="code"]'),
    ]);
    expect(await page.innerText('[data-copy="pin"]')).toBe('Copy PIN');
    await Promise.all([
      page.waitForSelector('[data-copy="pin"] >> text="Copied"'),
      page.click('[data-copy="pin"]'),
    ]);
    await page.waitForSelector('[data-copy="code"] >> text="Copy code"');

    expect(await clipboard()).toBe(CARD.pin);
  });

  it('puts the reference of a cancelled link on the clipboard', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.url });
    const id = '0198a6c2-7b1e-7c55-9d3f-2f6f1f0f8a11';
    const token = stage.gifts.addLink({ expires_at: 1_700_000_000, cancelled: true, id });
    const page = await stage.open(context, token, 'cancelled');
    await page.click('[data-copy="reference"]');
    await announced(page, 'Copied');
    expect(await clipboard()).toBe('0198a6c2');
  });

  it('works in browsers without the clipboard API', async () => {
    await context.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    const page = await revealed();
    await page.click('[data-copy="code"]');
    await announced(page, 'Copied');
  });

  it('selects the text if copying is not allowed', async () => {
    await context.addInitScript(
      "Object.defineProperty(navigator, 'clipboard', { value: undefined }); document.execCommand = () => false;",
    );
    const page = await revealed();
    await page.click('[data-copy="code"]');
    await announced(page, 'Copying did not work. The text is selected: copy it by hand.');
    expect(await evaluated(page, 'String(getSelection())')).toBe(CARD.code);
    expect(await page.innerText('[data-copy="code"]')).toBe('Copy code');
  });
});

describe('mangled links', () => {
  it.each(['/%23', '/%2523', '/?lang=en#', '/nowhere#'])(
    'are repaired if the URL starts with %s',
    async (prefix) => {
      const token = stage.gifts.addLink();
      const page = await context.newPage();
      await page.goto(`${stage.url}${prefix}${token}`);
      await untilState(page, 'reserved');
      expect(new URL(page.url()).hash).toBe(`#${token}`);
      expect(new URL(page.url()).pathname).toBe('/');
      expect(await evaluated(page, 'history.length')).toBe(2);
    },
  );

  it('can be pasted, with an error message for other text', async () => {
    const token = stage.gifts.addLink();
    const page = await context.newPage();
    await page.goto(stage.url);
    await untilState(page, 'missing');

    await page.click('form .main');
    expect(await page.innerText('[role="alert"]')).toBe(
      'This field is empty. Please paste your gift link here.',
    );
    await page.fill('#link', 'https://example.com/');
    await page.keyboard.press('Enter');
    const input = page.locator('#link');
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    expect(await page.innerText('[role="alert"]')).toContain('does not look like a gift link');
    expect(await evaluated(page, 'document.activeElement.id')).toBe('link');

    const broken = stage.linkTo(token).replace(/.{12}$/, ' $&');
    await input.fill(`Hi! Your card: ${broken}\nEnjoy!`);
    await page.click('form button');
    await untilState(page, 'reserved');
    expect(page.url()).toBe(stage.linkTo(token));
    expect(await focused(page)).toBe('You have a gift card worth €25');
  });

  it('can be pasted again, with another error message', async () => {
    const page = await context.newPage();
    await page.goto(stage.url);
    await untilState(page, 'missing');
    const paste = async () => {
      await page.fill('#link', stage.linkTo('AQJrMQ-MOlJ9Gm2xCutOff'));
      await page.keyboard.press('Enter');
    };
    await paste();
    await untilState(page, 'unknown');
    expect(await page.innerText('[role="alert"]')).toBe('');
    await paste();
    await page.waitForSelector('[role="alert"]:has-text("This link does not work either.")');
  });

  it('are replaced when another link is put into the URL', async () => {
    const page = await stage.open(context, stage.gifts.addLink(), 'reserved');
    const other = stage.gifts.addLink({ denomination: 70 });
    await evaluated(page, `location.hash = '${other}'`);
    await page.waitForSelector('h1:text-is("You have a gift card worth €70")');
  });

  it('say that the card was replaced while the page was in the background', async () => {
    const token = stage.gifts.addLink({ state: 'REVEALED' });
    const page = await stage.open(context, token, 'revealed');
    stage.gifts.link(token).view.replaced = true;
    await evaluated(page, `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
    await page.waitForSelector('h1:text-is("This card has been replaced")');
    await announced(page, 'This card has been replaced');
    expect(await page.title()).toBe('This card has been replaced');
  });
});

describe('while the service or the network is unavailable', () => {
  it('retries on a click, without revealing anything', async () => {
    const token = stage.gifts.addLink();
    await stage.gifts.close();
    const page = await stage.open(context, token, 'unreachable');
    await announced(page, 'We cannot reach your card right now');
    await page.click('[data-retry]');
    await untilState(page, 'unreachable');
    await stage.gifts.start();
    await page.click('[data-retry]');
    await untilState(page, 'reserved');
    expect(stage.gifts.link(token).revealRequests).toBe(0);
  });

  it('asks the person again after a reveal without a response', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    await stage.gifts.close();
    await page.click(REVEAL);
    await untilState(page, 'unreachable');
    await stage.gifts.start();
    await page.click('[data-retry]');
    await untilState(page, 'reserved');
    expect(stage.gifts.link(token).revealCount).toBe(0);
    await page.click(REVEAL);
    await untilState(page, 'revealed');
    expect(stage.gifts.link(token).revealCount).toBe(1);
  });

  it('shows the card if only the response to the reveal was lost', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    await page.route('**/reveal', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.click(REVEAL);
    await untilState(page, 'unreachable');
    await page.click('[data-retry]');
    await untilState(page, 'revealed');
    expectReveals(token, { sent: 1, revealed: 1 });
  });

  it('recovers when the network returns', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    await context.setOffline(true);
    await page.click(REVEAL);
    await untilState(page, 'unreachable');
    await context.setOffline(false);
    await untilState(page, 'reserved');
    expect(stage.gifts.link(token).revealRequests).toBe(0);
  });

  it('shows a note if its script never loads', async () => {
    const page = await context.newPage();
    await page.route('**/*.js', (route) => route.abort());
    await page.goto(stage.linkTo(stage.gifts.addLink()));
    expect(await page.isVisible('.stuck')).toBe(false);
    // Skip the 15 seconds before the note appears.
    await evaluated(page, "document.querySelector('.stuck').getAnimations()[0].finish()");
    await page.waitForSelector('.stuck', { state: 'visible' });
  });

  it('works over a network with three seconds of latency', async () => {
    const token = stage.gifts.addLink();
    const page = await context.newPage();
    const network = await context.newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 3_000,
      downloadThroughput: 20_000,
      uploadThroughput: 20_000,
    });
    await page.goto(stage.linkTo(token), { waitUntil: 'commit' });
    await page.waitForSelector('text=Looking for your gift card…');
    await untilState(page, 'reserved');
    await Promise.all([page.waitForSelector('main[data-state="revealing"]'), page.click(REVEAL)]);
    await untilState(page, 'revealed');
    expectReveals(token, { sent: 1, revealed: 1 });
  });
});

describe('languages', () => {
  it.each([
    ['fr-FR', 'Vous avez reçu une carte cadeau de 49,50\u00a0€'],
    ['de-DE', 'Sie haben eine Geschenkkarte über 49,50\u00a0€'],
    ['es-ES', 'Tiene una tarjeta regalo de 49,50\u00a0€'],
    ['ja-JP', 'You have a gift card worth €49.50'],
  ])('the page is shown to a browser in %s', async (locale, heading) => {
    const other = await stage.window({ locale });
    const page = await stage.open(other, stage.gifts.addLink({ denomination: 49.5 }), 'reserved');
    expect((await page.innerText('h1:visible')).replace(/\u202f/g, '\u00a0')).toBe(heading);
    await other.close();
  });

  it('switching the language keeps link and state', async () => {
    const token = stage.gifts.addLink();
    const page = await stage.open(context, token, 'reserved');
    await page.click('nav >> text=Français');
    await untilState(page, 'reserved');
    await page.waitForSelector('html[lang="fr"]');
    expect(page.url()).toBe(stage.linkTo(token, '?lang=fr'));
    expect(stage.gifts.link(token).revealRequests).toBe(0);

    await page.click(REVEAL);
    await untilState(page, 'revealed');
    await page.click('nav >> text=Deutsch');
    await page.waitForSelector('html[lang="de"]');
    await untilState(page, 'revealed');
    expect(await codeOf(page)).toBe(CARD.code);
    expectReveals(token, { sent: 1, revealed: 1 });
  });

  it('switching the language while offline keeps the card and says why', async () => {
    const page = await stage.open(context, stage.gifts.addLink({ state: 'REVEALED' }), 'revealed');
    await context.setOffline(true);
    await Promise.all([
      page.waitForSelector('[role="status"]:has-text("You are offline.")', { state: 'attached' }),
      page.click('nav >> text=Français'),
    ]);
    await page.waitForSelector('nav .wrong', { state: 'visible' });
    expect(await codeOf(page)).toBe(CARD.code);
    expect(await scrollsSideways(page)).toBe(false);
    await screenshot(page, 'revealed-offline');
    await context.setOffline(false);
    await page.waitForSelector('nav .wrong', { state: 'hidden' });
    await page.click('nav >> text=Français');
    await page.waitForSelector('html[lang="fr"]');
    await untilState(page, 'revealed');
  });
});

describe('the brand of an account', () => {
  it('shows name, color and logo, with readable text on the color', async () => {
    const logo = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"/>';
    const token = stage.gifts.addLink({}, { name: 'Sun & Co', color: '#ffd400', logo });
    const page = await stage.open(context, token, 'reserved');

    expect(await page.innerText('.name')).toBe('Sun & Co');
    expect(await page.getAttribute('.logo', 'src')).toBe(logo);
    expect(await iconOf(page)).toBe(logo);
    expect(await evaluated(page, "document.querySelector('.logo').naturalWidth")).toBe(40);
    const style = (property: string) =>
      evaluated<string>(page, `getComputedStyle(document.querySelector('${REVEAL}')).${property}`);
    expect(await style('backgroundColor')).toBe('rgb(255, 212, 0)');
    expect(await style('color')).toBe('rgb(20, 18, 15)');
    // A light button has an edge on the light page.
    expect(await style('borderTopColor')).toBe('rgba(0, 0, 0, 0.5)');
  });

  it('does not stay when the next link in the tab has none', async () => {
    const logo = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"/>';
    const brand = { name: 'Sun & Co', color: '#ffd400', logo, support_url: 'https://sun.example/help' };
    const page = await stage.open(context, stage.gifts.addLink(), 'reserved');
    const icon = await page.getAttribute('.logo', 'src');
    await evaluated(page, `location.hash = '${stage.gifts.addLink({ denomination: 60 }, brand)}'`);
    await page.waitForSelector('h1:text-is("You have a gift card worth €60")');
    expect(await page.getAttribute('.logo', 'src')).toBe(logo);
    expect(await page.innerText('main')).toContain('A gift from Sun & Co');
    const other = stage.gifts.addLink({ denomination: 70 }, null);
    await evaluated(page, `location.hash = '${other}'`);
    await page.waitForSelector('h1:text-is("You have a gift card worth €70")');
    expect(await page.innerText('.name')).toBe('Perkway');
    expect(await page.innerText('body')).not.toContain('Sun & Co');
    expect(await page.innerText('main')).toContain('A gift from the company that sent you this link');
    expect(await page.getAttribute('.logo', 'src')).toBe(icon);
    expect(await iconOf(page)).toBe(icon);
    expect(await page.isVisible('.logo')).toBe(true);
    expect(await page.isVisible('[data-link="support"]')).toBe(false);
    const attributes =
      "['data-on-brand', 'style'].map((name) => document.documentElement.getAttribute(name))";
    expect((await evaluated<(string | null)[]>(page, attributes)).filter(Boolean)).toEqual([]);
  });

  it("colors the tab's icon if the brand has no logo", async () => {
    const brand = { name: 'Sun & Co', color: '#ffd400', logo: null };
    const page = await stage.open(context, stage.gifts.addLink({}, brand), 'reserved');
    expect(await iconOf(page)).toMatch(/^data:image\/svg\+xml,.*<rect [^>]*fill='%23ffd400'/);
  });

  it('ignores an invalid color and a logo that is not a data URL', async () => {
    const brand = { name: '<b>Bad</b>', color: 'red;--page:red', logo: 'https://example.com/track.png' };
    const page = await stage.open(context, stage.gifts.addLink({}, brand), 'reserved');
    expect(await page.innerText('.name')).toBe('<b>Bad</b>');
    expect(await evaluated(page, "document.documentElement.getAttribute('style')")).toBeNull();
    expect(await page.isVisible('.logo')).toBe(false);
    expect(stage.requests.filter(({ url }) => url.includes('example.com'))).toEqual([]);
  });
});

it('no browser reported an error', () => {
  expect(stage.complaints).toEqual([]);
});
