import { announce, one } from './view.js';

/** How long a button shows "Copied" or the like. */
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

/** Returns a function that confirms the action of the button, on itself and to screen readers, or announces its failure. */
export function confirmationOf(button: HTMLElement): (failure?: string) => void {
  const label = button.querySelector<HTMLElement>('[data-label]')!;
  const done = button.querySelector<HTMLElement>('[data-done]')!;
  let timer = 0;
  const feedback = (isDone: boolean) => {
    label.hidden = isDone;
    done.hidden = !isDone;
    button.classList.toggle('done', isDone);
  };
  return (failure) => {
    announce(failure ?? done.textContent!);
    feedback(failure === undefined);
    clearTimeout(timer);
    timer = setTimeout(feedback, FEEDBACK_MS, false);
  };
}

/** Makes the button copy the value that it names. */
export function setUpCopying(button: HTMLElement): void {
  const source = one(`[data-fill="${button.getAttribute('data-copy')}"]`);
  const confirm = confirmationOf(button);
  button.addEventListener('click', async () => {
    confirm((await copy(source)) ? undefined : button.getAttribute('data-failed')!);
  });
}
