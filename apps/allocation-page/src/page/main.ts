import { ask, serverNow, type Answer } from './api.js';
import { setUpCopying } from './copy.js';
import { drawCode } from './draw.js';
import { formatAmount, formatCountry, formatDate, formatTimeLeft, localeFor } from './format.js';
import { paint, save, type Line } from './picture.js';
import type { RewardLink } from './reward-link.js';
import { showCode } from './show-code.js';
import { tokenOfAddress, tokenOfText } from './token.js';
import { all, announce, fill, one, present, show, showBrand, showProduct, type State } from './view.js';

/** After this long the page says that it is still at work. */
const SLOW_MS = 4_000;
/** The longest time a timer can wait for. */
const MAX_TIMER_MS = 0x7fffffff;

const locale = localeFor(document.documentElement.lang, navigator.languages || []);
const revealButton = one('[data-reveal]');
let token: string | null = null;
let state: State = 'loading';
let link: RewardLink | null = null;
/** Answers to an older question (another link was pasted meanwhile) are dropped. */
let question = 0;
let expiryTimer = 0;

function enter(next: State, byAction: boolean): void {
  const isSame = next === state;
  state = next;
  show(next);
  revealButton.setAttribute('aria-disabled', String(next === 'revealing'));
  if (!isSame && next !== 'revealing' && next !== 'loading') present(byAction);
}

/** Long amounts are written smaller on the card. */
const sizeOf = (amount: string): string => (amount.length > 11 ? 'longer' : amount.length > 7 ? 'long' : '');

function showTimeLeft(): void {
  clearTimeout(expiryTimer);
  if (!link || state !== 'reserved') return;
  const left = link.expires_at * 1000 - serverNow();
  const text = formatTimeLeft(locale, left / 1000);
  fill('left', text && `(${text})`);
  // When time is up, the server says what has become of the link.
  if (left <= 0) expiryTimer = setTimeout(load, 1_000, false, true);
  else
    expiryTimer = setTimeout(
      showTimeLeft,
      Math.min(left + 500, left < 7_200_000 ? 1_000 : 60_000, MAX_TIMER_MS),
    );
}

function showLink(next: RewardLink, byAction: boolean): void {
  link = next;
  if (next.brand) showBrand(next.brand);
  const amount = formatAmount(locale, next.denomination, next.currency);
  fill('amount', amount);
  one('.face-amount').className = `face-amount ${sizeOf(amount)}`;
  fill('place', formatCountry(locale, next.country));
  fill('date', formatDate(locale, next.expires_at));
  showProduct(next.product, next.brand ? next.brand.name : '');
  showCode(one('[data-fill="code"]'), next.card ? next.card.code : '');
  void drawCode(next.product && next.product.code_format, next.card ? next.card.code : '');
  fill('pin', (next.card && next.card.pin) || '');
  one('[data-secret="pin"]').hidden = !(next.card && next.card.pin);
  enter(next.card ? 'revealed' : next.state === 'RESERVED' ? 'reserved' : 'expired', byAction);
  showTimeLeft();
}

function answered(answer: Answer, byAction: boolean): void {
  if (answer.kind === 'link') showLink(answer.link, byAction);
  // Too late to reveal: the link itself says since when.
  else if (answer.kind === 'expired') void load(byAction);
  else enter(answer.kind, byAction);
}

/** Asks what the link is. `quietly` leaves the page as it is until there is an answer. */
async function load(byAction = false, quietly = false): Promise<void> {
  const asked = ++question;
  if (!token) return enter('missing', byAction);
  if (!quietly) enter('loading', byAction);
  const slow = setTimeout(() => (one('[data-slow]').hidden = false), SLOW_MS);
  const answer = await ask(token, 'get');
  clearTimeout(slow);
  one('[data-slow]').hidden = true;
  if (asked !== question) return;
  // A person who reads the page is not disturbed because a background look has failed.
  if (quietly && answer.kind !== 'link') return;
  answered(answer, byAction);
}

async function reveal(event: Event): Promise<void> {
  // A script's click is no person's click; a second click while the first one travels asks nothing new.
  if (!event.isTrusted || !token || state !== 'reserved') return;
  const asked = ++question;
  enter('revealing', true);
  announce(revealButton.innerText);
  const answer = await ask(token, 'reveal');
  if (asked === question) answered(answer, true);
}

/** Makes `/#token` the address, whatever it was, and asks for that link. */
function open(next: string, byAction: boolean): void {
  token = next;
  link = null;
  history.replaceState(null, '', `/${location.search}#${next}`);
  // The switch of language keeps the link.
  for (const anchor of all('nav a')) (anchor as HTMLAnchorElement).hash = next;
  void load(byAction);
}

/** What stands on the page, as a picture that needs no connection. */
function savePicture(): void {
  if (!link || !link.card) return;
  const text = (selector: string) => one(selector).textContent!.trim();
  const muted = '#625b50';
  const lines: Line[] = [
    ...(link.brand ? [{ text: link.brand.name, size: 40, weight: 600 }] : []),
    { text: link.product ? link.product.name : text('.face-foot span'), size: 56, weight: 700 },
    { text: text('.face-amount'), size: 92, weight: 700 },
    { text: text('#code-label'), size: 34, color: muted },
    { text: link.card.code, size: 64, weight: 600, mono: true },
    ...(link.card.pin
      ? [
          { text: text('#pin-label'), size: 34, color: muted },
          { text: link.card.pin, size: 64, weight: 600, mono: true },
        ]
      : []),
    { text: formatCountry(locale, link.country), size: 34, color: muted },
  ];
  save(paint(lines, getComputedStyle(one('.face')).backgroundColor), 'gift-card.png');
  announce(one('[data-save]').getAttribute('data-saved')!);
}

function openPasted(event: Event): void {
  event.preventDefault();
  const input = one<HTMLInputElement>('#link');
  const problem = one('#wrong');
  const pasted = tokenOfText(input.value);
  input.setAttribute('aria-invalid', String(!pasted));
  problem.textContent = pasted ? '' : problem.getAttribute('data-text');
  if (!pasted) return input.focus();
  input.value = '';
  open(pasted, true);
}

function openAddress(byAction: boolean): void {
  const found = tokenOfAddress(location.pathname, location.hash);
  if (found) open(found, byAction);
  else {
    token = null;
    void load(byAction);
  }
}

revealButton.addEventListener('click', reveal);
one('[data-retry]').addEventListener('click', () => void load(true));
one('form').addEventListener('submit', openPasted);
all('[data-copy]').forEach(setUpCopying);
one('[data-print]').addEventListener('click', () => print());
one('[data-save]').addEventListener('click', savePicture);
// The address was edited, or another link was pasted over it.
addEventListener('hashchange', () => openAddress(true));
// Back from the page cache, or to the tab after a while: another tab may have revealed the card.
addEventListener('pageshow', (event) => {
  if (event.persisted && state !== 'revealing') void load(false, state !== 'loading');
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && state === 'reserved') void load(false, true);
});
addEventListener('online', () => state === 'away' && void load());
// What would have told that this script never came.
one('.stuck').remove();
openAddress(false);
