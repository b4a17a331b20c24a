import { takesWhiteText } from './color.js';
import type { Brand } from './reward-link.js';

export type State =
  'loading' | 'reserved' | 'revealing' | 'revealed' | 'expired' | 'unknown' | 'missing' | 'away' | 'busy';

export const all = (selector: string): HTMLElement[] =>
  Array.prototype.slice.call(document.querySelectorAll<HTMLElement>(selector));
export const one = <E extends HTMLElement>(selector: string): E => document.querySelector<E>(selector)!;

const main = one('main');
const status = one('[data-status]');

/** Shows what belongs to the state and nothing else. */
export function show(state: State): void {
  main.setAttribute('data-state', state);
  for (const element of all('[data-when]'))
    element.hidden = element.getAttribute('data-when')!.split(' ').indexOf(state) < 0;
}

/** Writes a value wherever the page names it. An empty value leaves the words that the page came with. */
export function fill(name: string, value: string): void {
  for (const element of all(`[data-fill="${name}"]`)) {
    const template = element.getAttribute('data-template');
    if (template) {
      if (value) element.textContent = template.split(`{${name}}`).join(value);
    } else element.textContent = value;
  }
}

const heading = (): HTMLElement | undefined => all('main h1').filter((element) => element.offsetParent)[0];

/** Tells a screen reader. */
export function announce(text: string): void {
  // The same words twice in a row would not be told again.
  status.textContent = '';
  setTimeout(() => (status.textContent = text), 50);
}

/** The heading of the state becomes the title; a screen reader is told of it, or taken to it after a person's action. */
export function present(byAction: boolean): void {
  const element = heading();
  if (!element) return;
  document.title = element.textContent!.trim();
  if (byAction) element.focus();
  else announce(document.title);
}

/** The account's own look. What is not plainly a colour or an image is left out. */
export function showBrand(brand: Brand): void {
  fill('brand', brand.name);
  const style = document.documentElement.style;
  if (brand.color && /^#[0-9a-f]{6}$/i.test(brand.color)) {
    style.setProperty('--brand', brand.color);
    document.documentElement.setAttribute('data-on-brand', takesWhiteText(brand.color) ? 'white' : 'black');
  }
  const logo = one<HTMLImageElement>('.logo');
  logo.hidden = !(brand.logo && /^data:image\//i.test(brand.logo));
  if (brand.logo && !logo.hidden) logo.src = brand.logo;
}
