/** Reads the part of Markdown that docs/ uses: headings, paragraphs, lists, tables, code and links. */

export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'table'; caption: string; head: string[]; rows: string[][] }
  | { kind: 'list'; isOrdered: boolean; items: Block[][] }
  | { kind: 'text'; text: string };

const FENCE = /^```/;
const HEADING = /^(#{1,4}) (.*)$/;
const ITEM = /^(?:-|\d+\.) +/;
const isNumbered = (line: string) => /^\d/.test(line);
const isBlank = (line: string | undefined) => line === undefined || line.trim() === '';
const startsBlock = (line: string) =>
  FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || line.startsWith('|');

const cellsOf = (line: string) =>
  line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

/** @param source without what docs/ does not use, such as images, quotes and HTML */
export function parseMarkdown(source: string): Block[] {
  const lines = source.split('\n');
  const blocks: Block[] = [];
  let at = 0;
  let title = '';
  /** Takes lines as long as they meet the condition. */
  const take = (while_: (line: string) => boolean): string[] => {
    const start = at;
    while (at < lines.length && while_(lines[at]!)) at += 1;
    return lines.slice(start, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const heading = HEADING.exec(line);
    if (isBlank(line)) at += 1;
    else if (FENCE.test(line)) {
      at += 1;
      blocks.push({ kind: 'code', text: take((one) => !FENCE.test(one)).join('\n') });
      at += 1;
    } else if (heading) {
      at += 1;
      title = heading[2]!;
      blocks.push({ kind: 'heading', level: heading[1]!.length, text: title });
    } else if (line.startsWith('|')) {
      const [head = '', , ...rows] = take((one) => one.startsWith('|'));
      const names = cellsOf(head);
      const caption = `${title}: ${names.join(', ')}`.replaceAll('`', '');
      blocks.push({ kind: 'table', caption, head: names, rows: rows.map(cellsOf) });
    } else if (ITEM.test(line)) {
      const isOrdered = isNumbered(line);
      const items: Block[][] = [];
      while (at < lines.length && ITEM.test(lines[at]!) && isNumbered(lines[at]!) === isOrdered) {
        const { length } = ITEM.exec(lines[at]!)![0];
        const first = lines[at]!.slice(length);
        at += 1;
        // Lines that are indented belong to the item, with blank ones between them.
        const rest = take((one) => isBlank(one) || /^ {2}/.test(one));
        while (isBlank(rest.at(-1)) && rest.length > 0) rest.pop();
        items.push(parseMarkdown([first, ...rest.map((one) => one.slice(length))].join('\n')));
        while (at < lines.length && isBlank(lines[at]) && ITEM.test(lines[at + 1] ?? '')) at += 1;
      }
      blocks.push({ kind: 'list', isOrdered, items });
    } else {
      at += 1;
      blocks.push({
        kind: 'text',
        text: [line, ...take((one) => !isBlank(one) && !startsBlock(one))].join(' '),
      });
    }
  }
  return blocks;
}

/** The id of a heading, as links of docs/ name it. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .trim()
    .replaceAll(' ', '-');
