import { groupsOf } from './groups.js';

/** Shows the code in groups, without changing the text that is copied. */
export function showCode(element: HTMLElement, code: string): void {
  while (element.firstChild) element.removeChild(element.firstChild);
  const groups = groupsOf(code);
  // Add visible gaps if the code has no separators of its own.
  const isSpaced = /^[A-Za-z0-9]{7,}$/.test(code);
  element.className = isSpaced ? 'spaced' : '';
  element.style.setProperty('--length', String(code.length + (isSpaced ? groups.length : 1)));
  for (const group of groups) {
    const span = document.createElement('span');
    span.textContent = group;
    element.appendChild(span);
  }
}
