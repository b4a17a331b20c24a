import { announce, one } from './view.js';

/** How long "Copied" stands on the button. */
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
    // Older browsers, and pages without https: the selection stays, so that copying by hand is one step.
    selectText(source);
    return document.execCommand('copy');
  }
}

/** Copies what the button belongs to and says so, on the button and to a screen reader. */
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
    announce(button.getAttribute(isCopied ? 'data-copied' : 'data-failed')!);
    feedback(isCopied);
    clearTimeout(timer);
    timer = setTimeout(feedback, FEEDBACK_MS, false);
  });
}
