import { marked, type MarkedToken, type Token } from 'marked';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALERTS } from '../web/src/alerts';
import { anchorOf } from '../web/src/anchor';

const ROOT = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

it('makes the anchors that links name', () => {
  expect(anchorOf('Rotate a `key`: how?')).toBe('rotate-a-key-how');
});

describe('the pages of Documentation', () => {
  const screen = read('apps/console/web/src/screens/documentation.tsx');
  const paths = [...screen.matchAll(/import\('@(docs|client)\/(\S+?\.md)\?raw'\)/g)].map(([, where, name]) =>
    where === 'docs' ? `docs/${name}` : `libs/client/${name}`,
  );
  const pages = new Map(paths.map((path) => [path, marked.lexer(read(path))]));
  /** The tokens of a page, those within others too. */
  const all = (tokens: Token[]): MarkedToken[] => {
    const found: MarkedToken[] = [];
    marked.walkTokens(tokens, (token) => void found.push(token as MarkedToken));
    return found;
  };
  const anchors = (path: string) =>
    all(pages.get(path)!).flatMap((token) => (token.type === 'heading' ? [anchorOf(token.text)] : []));
  /** What parts/markdown.tsx shows; it shows everything else as source. */
  const SHOWN = [
    ...['heading', 'paragraph', 'text', 'list', 'list_item', 'table', 'code', 'space'],
    ...['codespan', 'strong', 'em', 'link', 'escape'],
  ];

  it('are those of a client’s engineers and of operators', () => {
    expect(paths).toEqual(
      expect.arrayContaining(['docs/quickstart.md', 'docs/operations.md', 'libs/client/README.md']),
    );
    expect(new Set(paths).size).toBe(18);
  });

  it('explain each alert that the console names', () => {
    expect(anchors('docs/operations.md')).toEqual(expect.arrayContaining(ALERTS.map(anchorOf)));
  });

  it.each(paths)('%s has only what the console shows', (path) => {
    const tokens = all(pages.get(path)!);
    expect(tokens.filter(({ type }) => !SHOWN.includes(type)).map(({ raw }) => raw)).toEqual([]);
    expect(tokens[0]).toMatchObject({ type: 'heading', depth: 1 });
    for (const token of tokens)
      if (token.type === 'table') {
        const names = token.header.map(({ text }) => text);
        expect(new Set(names).size).toBe(names.length);
      }
  });

  it.each(paths)('%s has links that lead somewhere', (path) => {
    const links = all(pages.get(path)!).flatMap((token) => (token.type === 'link' ? [token.href] : []));
    const dead = links.filter((href) => {
      const [file, anchor] = href.split('#') as [string, string | undefined];
      if (href.startsWith('https:')) return false;
      const target = file === '' ? path : join(path, '..', file);
      return pages.has(target) && anchor !== undefined && !anchors(target).includes(anchor);
    });
    expect(dead).toEqual([]);
  });
});
