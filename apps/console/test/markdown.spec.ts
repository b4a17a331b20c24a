import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anchorOf, parseMarkdown, type Block } from '../web/src/markdown';

const ROOT = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('parseMarkdown', () => {
  it('reads headings, paragraphs, code, tables and lists', () => {
    const source = [
      '# Title `one`',
      '',
      'A paragraph',
      'of two lines.',
      '```sh',
      '# not a heading',
      '',
      '| not | a table |',
      '```',
      '| a   | b      |',
      '| --- | ------ |',
      '| 1   | x \\| y |',
      '',
      '- one',
      '  more',
      '- two:',
      '',
      '  ```js',
      '  - code',
      '  ```',
      '',
      '1. first',
      '2. second',
    ].join('\n');
    expect(parseMarkdown(source)).toEqual([
      { kind: 'heading', level: 1, text: 'Title `one`' },
      { kind: 'text', text: 'A paragraph of two lines.' },
      { kind: 'code', text: '# not a heading\n\n| not | a table |' },
      { kind: 'table', caption: 'Title one: a, b', head: ['a', 'b'], rows: [['1', 'x | y']] },
      {
        kind: 'list',
        isOrdered: false,
        items: [
          [{ kind: 'text', text: 'one more' }],
          [
            { kind: 'text', text: 'two:' },
            { kind: 'code', text: '- code' },
          ],
        ],
      },
      {
        kind: 'list',
        isOrdered: true,
        items: [[{ kind: 'text', text: 'first' }], [{ kind: 'text', text: 'second' }]],
      },
    ]);
  });

  it('makes the anchors that links name', () => {
    expect(anchorOf('Rotate a `key`: how?')).toBe('rotate-a-key-how');
  });
});

describe('the pages of Documentation', () => {
  const screen = read('apps/console/web/src/screens/documentation.tsx');
  const paths = [...screen.matchAll(/import\('@(docs|client)\/(\S+?\.md)\?raw'\)/g)].map(([, where, name]) =>
    where === 'docs' ? `docs/${name}` : `libs/client/${name}`,
  );
  const pages = new Map(paths.map((path) => [path, parseMarkdown(read(path))]));
  const all = (blocks: Block[]): Block[] =>
    blocks.flatMap((block) => [block, ...(block.kind === 'list' ? block.items.flatMap(all) : [])]);
  const textsOf = (block: Block): string[] =>
    block.kind === 'table'
      ? block.rows.flat()
      : block.kind === 'text' || block.kind === 'heading'
        ? [block.text]
        : [];
  const anchors = (path: string) =>
    all(pages.get(path)!).flatMap((block) => (block.kind === 'heading' ? [anchorOf(block.text)] : []));

  it('are those of a client’s engineers', () => {
    expect(paths).toEqual(
      expect.arrayContaining(['docs/quickstart.md', 'docs/webhooks.md', 'libs/client/README.md']),
    );
    expect(new Set(paths).size).toBe(13);
  });

  it.each(paths)('%s is read whole', (path) => {
    const blocks = all(pages.get(path)!);
    const fences = read(path).match(/^ *```/gm)?.length ?? 0;
    expect(blocks.filter(({ kind }) => kind === 'code')).toHaveLength(fences / 2);
    expect(blocks[0]).toMatchObject({ kind: 'heading', level: 1 });
    for (const block of blocks) {
      if (block.kind === 'table') {
        expect(new Set(block.head).size).toBe(block.head.length);
        expect(block.rows.filter(({ length }) => length !== block.head.length)).toEqual([]);
      }
      for (const text of textsOf(block)) expect(text).not.toMatch(/^(?:\||```|#|- |>|!\[)|<\/?[a-z]+>$/);
    }
  });

  it.each(paths)('%s has links that lead somewhere', (path) => {
    const links = all(pages.get(path)!)
      .flatMap(textsOf)
      .flatMap((text) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => href!));
    const dead = links.filter((href) => {
      const [file, anchor] = href.split('#') as [string, string | undefined];
      if (href.startsWith('https:')) return false;
      const target = file === '' ? path : join(path, '..', file);
      return pages.has(target) && anchor !== undefined && !anchors(target).includes(anchor);
    });
    expect(dead).toEqual([]);
  });
});
