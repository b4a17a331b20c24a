import { takesWhiteText } from './color.js';
import { formatLanguage } from './format.js';
import type { Brand, RewardLink } from './reward-link.js';

export type State =
  | 'loading'
  | 'reserved'
  | 'revealing'
  | 'revealed'
  | 'expired'
  | 'cancelled'
  | 'withdrawn'
  | 'replaced'
  | 'unknown'
  | 'missing'
  | 'unreachable'
  | 'busy';

export const all = <E extends Element = HTMLElement>(selector: string): E[] =>
  Array.prototype.slice.call(document.querySelectorAll<E>(selector));
export const one = <E extends HTMLElement>(selector: string): E => document.querySelector<E>(selector)!;

const main = one('main');
const status = one('[data-status]');
export const dialog = one<HTMLDialogElement>('dialog');

/** The states that show the card; the others show a picture in its place. */
const WITH_CARD: State[] = ['loading', 'reserved', 'revealing', 'revealed'];

/** Shows only the elements that belong to the state. */
export function show(state: State): void {
  main.setAttribute('data-state', state);
  if (WITH_CARD.indexOf(state) < 0) main.setAttribute('data-blank', '');
  else main.removeAttribute('data-blank');
  // The dialog still shows the enlarged code of the previous state.
  if (dialog.open) dialog.close();
  for (const element of all('[data-when]'))
    element.hidden = element.getAttribute('data-when')!.split(' ').indexOf(state) < 0;
}

/** French drops the vowel of `de` before another one: d’Ostervale. */
const elide = (template: string, name: string, value: string): string =>
  document.documentElement.lang === 'fr' && /^[aeiouàâäéèêëîïôöùûü]/i.test(value)
    ? template.replace(`de {${name}}`, `d’{${name}}`)
    : template;

/** Writes a value into all elements that name it. If the value is empty, they get their initial text. */
export function fill(name: string, value: string): void {
  for (const element of all(`[data-fill="${name}"]`)) {
    if (!element.hasAttribute('data-initial')) element.setAttribute('data-initial', element.textContent!);
    const template = element.getAttribute('data-template') || `{${name}}`;
    element.textContent = value
      ? elide(template, name, value).split(`{${name}}`).join(value)
      : element.getAttribute('data-initial');
  }
}

const heading = (): HTMLElement | undefined => all('main h1').filter((element) => element.offsetParent)[0];

/** Announces the text to screen readers. */
export function announce(text: string): void {
  // Clear it first, because screen readers ignore an unchanged text.
  status.textContent = '';
  setTimeout(() => (status.textContent = text), 50);
}

/** Uses the heading of the state as the title. Moves the focus to it after a user action, otherwise announces it. */
export function present(byAction: boolean): void {
  const element = heading();
  if (!element) return;
  document.title = element.textContent!.trim();
  if (byAction) element.focus();
  // Otherwise screen readers would still find the announcement "Opening…".
  announce(byAction ? '' : document.title);
}

const isColor = (color: string | null | undefined): color is string =>
  !!color && /^#[0-9a-f]{6}$/i.test(color);
const isImage = (url: string | null | undefined): url is string => !!url && /^data:image\//i.test(url);

export const isUrl = (text: string | null | undefined): text is string =>
  !!text && /^https?:\/\/\S+$/i.test(text);

/** Shows a link, and fills in its host, only if the URL is http or https; returns whether it does. */
function showAnchor(name: string, url: string | null | undefined): boolean {
  const isSite = isUrl(url);
  for (const anchor of all(`[data-link="${name}"]`) as HTMLAnchorElement[]) {
    anchor.hidden = !isSite;
    if (isSite) anchor.href = url;
    else anchor.removeAttribute('href');
    fill(name, isSite ? anchor.hostname.replace(/^www\./, '') : '');
  }
  return isSite;
}

/** Sets an element's brand color, and white or black for text on it. Without a valid color, restores the page's own. */
function colorize(element: HTMLElement, color: string | null | undefined): void {
  if (isColor(color)) {
    element.style.setProperty('--brand', color);
    element.setAttribute('data-on-brand', takesWhiteText(color) ? 'white' : 'black');
  } else {
    element.style.removeProperty('--brand');
    element.removeAttribute('data-on-brand');
  }
}

function showLogo(selector: string, url: string | null | undefined): void {
  const logo = one<HTMLImageElement>(selector);
  logo.hidden = !isImage(url);
  if (isImage(url)) logo.src = url;
}

const PERKWAY_LOGO = one<HTMLImageElement>('.logo').src;

/** Returns Perkway's icon, a parcel, in this color. */
const parcel = (color: string | null | undefined): string =>
  isColor(color) ? PERKWAY_LOGO.replace(/%23\w{6}/, `%23${color.slice(1)}`) : PERKWAY_LOGO;

/** Shows the account's brand, or that of Perkway. Ignores an invalid color or image. */
export function showBrand(brand: Brand | null | undefined): void {
  fill('brand', brand ? brand.name : '');
  document.documentElement.classList.toggle('unbranded', !brand);
  showAnchor('support', brand && brand.support_url);
  colorize(document.documentElement, brand && brand.color);
  showLogo('.logo', brand ? brand.logo : PERKWAY_LOGO);
  one<HTMLLinkElement>('link[rel="icon"]').href =
    brand && isImage(brand.logo) ? brand.logo : parcel(brand && brand.color);
}

/** Returns whether the card code is also drawn, for a checkout scanner. */
export const isScanned = (format: string | undefined): format is 'qr' | 'code128' =>
  format === 'qr' || format === 'code128';

/**
 * Shows the product on the card and below the heading, and once the card is revealed also how to spend it, unless it was
 * replaced: the recipient should use the new card.
 */
export function showProduct({ product, language, card, replaced }: RewardLink, sender: string): void {
  for (const element of all('[data-replaced]')) element.hidden = !replaced;
  for (const element of all('[data-unless-replaced]')) element.hidden = !!replaced;
  fill('title', product ? product.name : sender);
  fill('product', product ? product.name : '');
  for (const row of all('[data-product="row"]')) row.hidden = !product;
  for (const text of all('[data-product="text"]'))
    if (product && language) text.lang = language;
    else text.removeAttribute('lang');
  // The name of a product says that it is a gift card.
  one('[data-kind]').hidden = !!product;
  colorize(one('.face'), product && product.color);
  showLogo('.face-logo', product && product.logo);
  const instructions = (product && product.instructions) || '';
  fill('instructions', instructions);
  // Some codes are web addresses: the card itself is on that page.
  const isAddress = !!card && isUrl(card.code);
  // Any value selects the texts for an address: they have no placeholder.
  fill('address', isAddress ? 'yes' : '');
  const hasShop = showAnchor('shop', replaced ? null : isAddress ? card.code : product && product.redeem_url);
  // Readers of another language may not understand the instructions.
  const isForeign = !!language && language.split('-')[0] !== document.documentElement.lang;
  fill('language', isForeign ? formatLanguage(document.documentElement.lang, language) : '');
  const hasReadableInstructions = !!instructions && !isForeign;
  one('[data-ask]').hidden = hasReadableInstructions || hasShop;
  one('[data-how-store]').hidden = !product || !isScanned(product.code_format) || isAddress;
  one('[data-how-shop]').hidden = !hasShop || isAddress;
  for (const text of all('[data-how-address]')) text.hidden = !isAddress;
  one('[data-balance]').hidden = !hasShop;
  one('[data-keep-code]').hidden = isAddress;
  one('[data-own-words]').hidden = hasReadableInstructions;
  one('[data-of-issuer]').hidden = !instructions;
  one('[data-how]').hidden = !!replaced;
  one<HTMLDetailsElement>('details').open = !replaced;
  // One main button: it leads to the shop, or copies the code if there is no shop to go to.
  one('[data-copy="code"]').className = hasShop || replaced ? 'copy' : 'main';
  showAnchor('terms', product && product.terms_url);
}
