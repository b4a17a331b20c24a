import { callApi, serverNow, type ApiResult } from './api.js';
import { confirmationOf, setUpCopying } from './copy.js';
import { drawCode, pictureOf } from './draw.js';
import {
  formatAmount,
  formatCountry,
  formatDate,
  formatDay,
  formatMoment,
  formatTimeLeft,
  localeFor,
} from './format.js';
import { spaced } from './groups.js';
import { paint, save, type Line } from './picture.js';
import type { RewardLink } from './reward-link.js';
import { showCode } from './show-code.js';
import { tokenOfAddress, tokenOfText } from './token.js';
import { all, announce, fill, one, present, show, showBrand, showProduct, type State } from './view.js';

/** After this long, the page says that the connection seems slow. */
const SLOW_MS = 4_000;
/** For this long after the first opening, the page does not ask whether it was the reader, who may just change the language. */
const RECENT_S = 600;
/** The picture includes instructions up to this length. */
const SHORT = 300;

const language = document.documentElement.lang;
const preferred = navigator.languages || [];
const locale = localeFor(language, preferred);
const revealButton = one('[data-reveal]');
let token: string | null = null;
let state: State = 'loading';
let link: RewardLink | null = null;
/**
 * Number of the latest request. Responses to older requests, for example before another link was pasted, are dropped.
 */
let lastRequest = 0;
let expiryTimer = 0;

/** @param byAction whether the reader caused the change, which moves the focus; otherwise it is announced */
function enter(next: State, byAction: boolean): void {
  const isSame = next === state;
  state = next;
  show(next);
  revealButton.setAttribute('aria-disabled', String(next === 'revealing'));
  if (!isSame && next !== 'revealing' && next !== 'loading') present(byAction);
}

function showTimeLeft(): void {
  clearTimeout(expiryTimer);
  if (!link || state !== 'reserved') return;
  const now = serverNow();
  const until = link.expires_at * 1000;
  const left = until - now;
  const text = formatTimeLeft(locale, now, until);
  fill('left', text && `(${text})`);
  // Once the link expires, ask the server for its state.
  if (left <= 0) expiryTimer = setTimeout(load, 1_000, false, true);
  // Below two hours, the text counts minutes; below two minutes, seconds.
  else expiryTimer = setTimeout(showTimeLeft, Math.min(left + 500, left < 7_200_000 ? 1_000 : 60_000));
}

function stateOf({ state: given, card, cancelled, withdrawn, replaced }: RewardLink): State {
  if (card) return 'revealed';
  if (given === 'RESERVED') return 'reserved';
  if (replaced) return 'replaced';
  return withdrawn ? 'withdrawn' : cancelled ? 'cancelled' : 'expired';
}

/** Returns what the recipient quotes to the sender. */
const referenceOf = ({ id }: RewardLink): string => (id || '').slice(0, 8);

/** Says when the link was first opened, unless that was just now on this page. */
function showOpened({ revealed_at: at = 0, replaced }: RewardLink): void {
  const isRecent = serverNow() / 1000 - at < RECENT_S;
  fill('time', at && isRecent && !replaced ? formatMoment(locale, at, false) : '');
  fill('moment', at && !isRecent && !replaced ? formatMoment(locale, at, true) : '');
  fill('opened', at ? formatDate(locale, at) : '');
  one('[data-opened]').hidden = !at || isRecent;
}

function showLink(next: RewardLink, byAction: boolean): void {
  const isReplacedNow = next.replaced && link && !link.replaced && state === 'revealed';
  link = next;
  showBrand(next.brand);
  const amount = formatAmount(localeFor(language, preferred, next.country), next.denomination, next.currency);
  fill('amount', amount);
  one('.face-amount').style.setProperty('--length', String(amount.length));
  fill('place', formatCountry(locale, next.country));
  fill('date', formatDate(locale, next.expires_at));
  showProduct(next, next.brand ? next.brand.name : '');
  showCode(one('[data-fill="code"]'), next.card ? next.card.code : '');
  fill('pin', (next.card && next.card.pin) || '');
  for (const element of all('[data-secret="pin"], [data-of-pin], .large-pin'))
    element.hidden = !(next.card && next.card.pin);
  const lastDay = (next.card && next.card.valid_until) || '';
  fill('last-day', lastDay && formatDay(locale, lastDay));
  showOpened(next);
  fill('reference', referenceOf(next));
  one('[data-reference]').hidden = !next.id;
  enter(stateOf(next), byAction);
  // The state is the same, but not its heading.
  if (isReplacedNow) present(byAction);
  // After the card is visible, because the drawing is as wide as the card.
  void drawCode(
    next.replaced ? undefined : next.product && next.product.code_format,
    next.card ? next.card.code : '',
  );
  showTimeLeft();
}

function showResult(result: ApiResult, byAction: boolean): void {
  if (result.kind === 'link') showLink(result.link, byAction);
  // Too late to reveal: request the link again, because its response says when and why it ended.
  else if (result.kind === 'expired') void load(byAction);
  else enter(result.kind, byAction);
}

/** Calls the API. After `SLOW_MS` without a response, says that the connection seems slow. */
async function request(given: string, operation: 'get' | 'reveal'): Promise<ApiResult> {
  const thisRequest = lastRequest;
  const say = (isSlow: boolean) => {
    if (thisRequest !== lastRequest) return;
    all('[data-slow]').forEach((note) => (note.hidden = !isSlow));
    if (isSlow && (state === 'loading' || state === 'revealing')) announce(one('[data-slow]').innerText);
  };
  const slow = setTimeout(say, SLOW_MS, true);
  const result = await callApi(given, operation);
  clearTimeout(slow);
  say(false);
  return result;
}

/** Requests the link. With `quietly`, the page stays as it is until there is a response. */
async function load(byAction = false, quietly = false): Promise<void> {
  const thisRequest = ++lastRequest;
  if (!token) return enter('missing', byAction);
  if (!quietly) enter('loading', byAction);
  const result = await request(token, 'get');
  if (thisRequest !== lastRequest) return;
  // A failed background refresh must not disturb the reader.
  if (quietly && result.kind !== 'link') return;
  showResult(result, byAction);
}

async function reveal(event: Event): Promise<void> {
  // Ignore clicks by scripts, and further clicks while a request is in progress.
  if (!event.isTrusted || !token || state !== 'reserved') return;
  const thisRequest = ++lastRequest;
  enter('revealing', true);
  announce(revealButton.innerText);
  const result = await request(token, 'reveal');
  if (thisRequest === lastRequest) showResult(result, true);
}

/** Rewrites the URL to `/#token`, keeping its query string (`?lang=`), and requests that link. */
function open(next: string, byAction: boolean): Promise<void> {
  token = next;
  link = null;
  showBrand(null);
  one('#wrong').textContent = '';
  history.replaceState(null, '', `/${location.search}#${next}`);
  return load(byAction);
}

const confirmSaved = confirmationOf(one('[data-save]'));
/** Saves the card as a picture that can be shown offline. */
async function savePicture(): Promise<void> {
  if (!link || !link.card) return;
  const { product } = link;
  const instructions = (product && product.instructions) || '';
  const text = (selector: string) => one(selector).textContent!.trim();
  const reference = referenceOf(link);
  const muted = '#625b50';
  const lines: Line[] = [
    ...(link.brand ? [{ text: link.brand.name, size: 40, weight: 600 }] : []),
    { text: link.product ? link.product.name : text('[data-kind]'), size: 56, weight: 700 },
    { text: text('.face-amount'), size: 92, weight: 700 },
    { text: text('#code-label'), size: 34, color: muted },
    { text: spaced(link.card.code), size: 64, weight: 600, mono: true },
    ...(link.card.pin
      ? [
          { text: text('#pin-label'), size: 34, color: muted },
          { text: link.card.pin, size: 64, weight: 600, mono: true },
        ]
      : []),
    ...(reference ? [{ text: `${text('.reference .label')}: ${reference}`, size: 34, color: muted }] : []),
    { text: formatCountry(locale, link.country), size: 34, color: muted },
    ...(text('[data-fill="shop"]') ? [{ text: text('[data-fill="shop"]'), size: 34, color: muted }] : []),
    ...(link.card.valid_until
      ? [{ text: `${text('[data-valid] dt')}: ${text('[data-valid] dd')}`, size: 34, color: muted }]
      : []),
    ...(instructions && instructions.length <= SHORT ? [{ text: instructions, size: 34 }] : []),
  ];
  const name = reference ? `gift-card-${reference}.png` : 'gift-card.png';
  save(paint(lines, getComputedStyle(one('.face')).backgroundColor, await pictureOf(link.card.code)), name);
  confirmSaved();
}

async function openPasted(event: Event): Promise<void> {
  event.preventDefault();
  const input = one<HTMLInputElement>('#link');
  const problem = one('#wrong');
  const report = (name: string | null) => {
    input.setAttribute('aria-invalid', String(!!name));
    problem.textContent = name && problem.getAttribute(name);
  };
  const pasted = tokenOfText(input.value);
  report(pasted ? null : input.value.trim() ? 'data-wrong' : 'data-empty');
  if (!pasted) return input.focus();
  input.value = '';
  const isSecond = state === 'unknown';
  await open(pasted, true);
  // Otherwise the page would look as it did before.
  if (isSecond && state === 'unknown') report('data-again');
}

const showOffline = (isOffline: boolean) =>
  all('[data-offline]').forEach((note) => (note.hidden = !isOffline));

/** Keeps the page while offline: a request for the page in another language would lose the card. */
function chooseLanguage(event: Event): void {
  if (navigator.onLine) return;
  event.preventDefault();
  showOffline(true);
  announce(one('[data-offline]').textContent!);
}

function openAddress(byAction: boolean): void {
  const found = tokenOfAddress(location.pathname, location.hash);
  if (found) void open(found, byAction);
  else {
    token = null;
    showBrand(null);
    void load(byAction);
  }
}

revealButton.addEventListener('click', reveal);
one('[data-retry]').addEventListener('click', () => void load(true));
all('nav form').forEach((form) => form.addEventListener('submit', chooseLanguage));
one('main form').addEventListener('submit', openPasted);
all('[data-copy]').forEach(setUpCopying);
one('[data-print]').addEventListener('click', () => print());
one('[data-save]').addEventListener('click', savePicture);
// The URL was edited, or another link was pasted into it.
addEventListener('hashchange', () => openAddress(true));
// The card may have been revealed elsewhere while the page was in the back/forward cache or in the background.
addEventListener('pageshow', (event) => {
  if (event.persisted && state !== 'revealing') void load(false, state !== 'loading');
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && state === 'reserved') void load(false, true);
});
addEventListener('online', () => {
  showOffline(false);
  if (state === 'unreachable') void load();
});
// This note would have appeared if the script had not loaded.
one('.stuck').remove();
openAddress(false);
