import { takesWhiteText } from './color.js';
import type { Brand, Product } from './reward-link.js';

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

export const all = (selector: string): HTMLElement[] =>
  Array.prototype.slice.call(document.querySelectorAll<HTMLElement>(selector));
export const one = <E extends HTMLElement>(selector: string): E => document.querySelector<E>(selector)!;

const main = one('main');
const status = one('[data-status]');

/** The states that show the card; the others show a picture in its place. */
const WITH_CARD: State[] = ['loading', 'reserved', 'revealing', 'revealed'];

/** Shows only the elements that belong to the state. */
export function show(state: State): void {
  main.setAttribute('data-state', state);
  if (WITH_CARD.indexOf(state) < 0) main.setAttribute('data-blank', '');
  else main.removeAttribute('data-blank');
  for (const element of all('[data-when]'))
    element.hidden = element.getAttribute('data-when')!.split(' ').indexOf(state) < 0;
}

/** French drops the vowel of `de` before another one: d’Ostervale. */
const elide = (template: string, name: string, value: string): string =>
  document.documentElement.lang === 'fr' && /^[aeiouàâäéèêëîïôöùûü]/i.test(value)
    ? template.replace(`de {${name}}`, `d’{${name}}`)
    : template;

/**
 * Writes a value into all elements that name it. An element with a template keeps its initial text if the value is
 * empty.
 */
export function fill(name: string, value: string): void {
  for (const element of all(`[data-fill="${name}"]`)) {
    const template = element.getAttribute('data-template');
    if (template) {
      if (value) element.textContent = elide(template, name, value).split(`{${name}}`).join(value);
    } else element.textContent = value;
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
  else announce(document.title);
}

const isColor = (color: string | null): color is string => !!color && /^#[0-9a-f]{6}$/i.test(color);
const isImage = (url: string | null | undefined): url is string => !!url && /^data:image\//i.test(url);

/** Shows a link only if the URL is http or https. */
function lead(name: string, url: string | null | undefined): void {
  const isSite = !!url && /^https?:\/\//i.test(url);
  for (const anchor of all(`[data-link="${name}"]`) as HTMLAnchorElement[]) {
    anchor.hidden = !isSite;
    if (isSite) anchor.href = url!;
    else anchor.removeAttribute('href');
  }
}

/** Shows the account's brand. Ignores an invalid color or image. */
export function showBrand(brand: Brand): void {
  fill('brand', brand.name);
  lead('support', brand.support_url);
  if (isColor(brand.color)) {
    document.documentElement.style.setProperty('--brand', brand.color);
    document.documentElement.setAttribute('data-on-brand', takesWhiteText(brand.color) ? 'white' : 'black');
  }
  const logo = one<HTMLImageElement>('.logo');
  logo.hidden = !isImage(brand.logo);
  if (isImage(brand.logo)) logo.src = brand.logo;
}

/** Shows the product on the card and in the facts, and once the card is revealed also how to spend it. */
export function showProduct(product: Product | undefined, sender: string): void {
  fill('title', product ? product.name : sender);
  fill('product', product ? product.name : '');
  for (const row of all('[data-product="row"]')) row.hidden = !product;
  // The name of a product says that it is a gift card.
  one('[data-kind]').hidden = !!product;
  const face = one('.face');
  const color = product && isColor(product.color) ? product.color : null;
  if (color) face.style.setProperty('--brand', color);
  else face.style.removeProperty('--brand');
  if (color) face.setAttribute('data-on-brand', takesWhiteText(color) ? 'white' : 'black');
  else face.removeAttribute('data-on-brand');
  const logo = one<HTMLImageElement>('.face-logo');
  const picture = product && product.logo;
  logo.hidden = !isImage(picture);
  if (isImage(picture)) logo.src = picture;
  const instructions = (product && product.instructions) || '';
  fill('instructions', instructions);
  for (const element of all('[data-instructions]')) element.hidden = !instructions;
  lead('shop', product && product.redeem_url);
  lead('terms', product && product.terms_url);
  one('[data-how]').hidden = !(instructions || (product && product.redeem_url));
}
