import { groupsOf, isSpaced } from './groups.js';

/** Shows the code in groups, without changing the text that is copied. */
export function showCode(element: HTMLElement, code: string): void {
  while (element.firstChild) element.removeChild(element.firstChild);
  const groups = groupsOf(code);
  const hasGaps = isSpaced(code);
  element.className = hasGaps ? 'spaced' : '';
  element.style.setProperty('--length', String(code.length + (hasGaps ? groups.length : 1)));
  for (const group of groups) {
    const span = document.createElement('span');
    span.textContent = group;
    element.appendChild(span);
  }
}
