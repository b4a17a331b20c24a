import type { Page } from 'playwright-core';

/** What a screen shows: its tables by caption, its lists by label, and texts by selector. */
export interface Shown {
  /** `notes` are the hints below the names of the rows. */
  tables: Record<string, { head: string[]; rows: string[][]; notes: string[] }>;
  lists: Record<string, string[]>;
  bars: Record<string, { label: string; value: string; note: string }[]>;
  facts: Record<string, string>;
  figures: Record<string, string>;
  text: string;
}

// A string, because the tests are compiled without the types of the DOM. `textContent` also reads collapsed tables.
const READ = `(() => {
  const text = (node) => (node?.textContent ?? '').replaceAll(/\\s+/g, ' ').trim();
  const every = (selector, of = document) => [...of.querySelectorAll(selector)];
  return {
    tables: Object.fromEntries(every('table').map((table) => [text(table.caption), {
      head: every('thead th', table).map(text),
      rows: every('tbody tr', table).map((row) =>
        [...row.cells].map((cell) => text(cell.tagName === 'TH' ? cell.querySelector('a') ?? cell : cell))),
      notes: every('tbody th', table).map((name) => text(name.querySelector('.hint'))),
    }])),
    lists: Object.fromEntries(every('ol.funnel').map((list) => [list.ariaLabel,
      every('li', list).map((step) => text(step.querySelector('.funnel-name')) + ': ' + text(step.querySelector('.funnel-value')))])),
    bars: Object.fromEntries(every('ul.bars').map((list) => [list.ariaLabel, every('li', list).map((bar) => ({
      label: text(bar.querySelector('.bar-label')),
      value: text(bar.querySelector('.bar-value b')),
      note: text(bar.querySelector('.bar-value .hint')),
    }))])),
    facts: Object.fromEntries(every('dl.facts > div').map((fact) => [text(fact.querySelector('dt')), text(fact.querySelector('dd'))])),
    figures: Object.fromEntries(every('[data-figure]').map((figure) => [figure.dataset.figure,
      text(figure) + (figure.classList.contains('figure-value') ? ', ' + text(figure.nextElementSibling) : '')])),
    text: text(document.querySelector('main')),
  };
})()`;

export const readScreen = (page: Page): Promise<Shown> => page.evaluate<Shown>(READ);
