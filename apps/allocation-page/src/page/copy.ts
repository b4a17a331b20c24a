import { announce, one } from './view.js';

/** How long the button shows "Copied". */
const FEEDBACK_MS = 2_500;

function selectText(element: Element): void {
  const selection = getSelection()!;
  const range = document.createRange();
  range.selectNodeContents(element);
  selection.removeAllRanges();
  selection.addRange(range);
}

async function copy(source: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(source.textContent!);
    return true;
  } catch {
    // Older browsers, and pages without https, have no clipboard API. The text stays selected, so that a person can
    // copy it.
    selectText(source);
    return document.execCommand('copy');
  }
}

/** Makes the button copy the value that it names, and confirm this on itself and to screen readers. */
export function setUpCopying(button: HTMLElement): void {
  const source = one(`[data-fill="${button.getAttribute('data-copy')}"]`);
  const label = button.querySelector<HTMLElement>('[data-label]')!;
  const done = button.querySelector<HTMLElement>('[data-done]')!;
  let timer = 0;
  const feedback = (isCopied: boolean) => {
    label.hidden = isCopied;
    done.hidden = !isCopied;
    button.classList.toggle('copied', isCopied);
  };
  button.addEventListener('click', async () => {
    const isCopied = await copy(source);
    announce(isCopied ? done.textContent! : button.getAttribute('data-failed')!);
    feedback(isCopied);
    clearTimeout(timer);
    timer = setTimeout(feedback, FEEDBACK_MS, false);
  });
}
