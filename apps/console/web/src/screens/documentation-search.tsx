import { useQuery } from '@tanstack/react-query';
import { marked, type MarkedToken } from 'marked';
import { Link } from 'react-router';
import { anchorOf } from '../anchor';
import { Loaded } from '../parts/loaded';
import { Card } from '../parts/screen';
import { texts } from '../texts';
import type { PageName } from './documentation';

const t = texts.documentation;
const SHOWN = 20;
/** Characters of a section that are shown before and after the first typed word that it has. */
const CONTEXT = 90;

interface Section {
  page: PageName;
  title: string;
  /** The path of the section within the page, such as `#signatures`; empty for the page itself. */
  hash: string;
  text: string;
}

interface Props {
  /** The search text. */
  q: string;
  pages: PageName[];
  /** Reads the Markdown of a page. */
  read: (page: PageName) => Promise<string>;
}

/** Words of a question that occur in nearly every section. */
const STOP_WORDS = new Set(
  'a an and are at be by can do does for from how i if in is it my of on or our the to we what when which why with you your'.split(
    ' ',
  ),
);

/** Returns the words to search for. If all are stop words, all count. */
const wordsOf = (q: string): string[] => {
  const words = plainOf(q)
    .toLowerCase()
    .split(' ')
    .map((word) => word.replace(/[?!.,;]+$/, ''))
    .filter(Boolean);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return telling.length > 0 ? telling : words;
};

/** Lists the sections that contain every word of the search. Sections whose title contains all of them come first. */
export function DocumentationSearch({ q, pages, read }: Props) {
  const sections = useQuery({
    queryKey: ['documentation', pages],
    queryFn: async () =>
      (await Promise.all(pages.map(async (page) => sectionsOf(page, await read(page))))).flat(),
    staleTime: Infinity,
  });
  const words = wordsOf(q);
  return (
    <Card>
      <Loaded query={sections} lines={12}>
        {(all) => {
          const found = all.filter(({ title, text }) => hasAll(`${title} ${text}`, words));
          const inTitle = found.filter(({ title }) => hasAll(title, words));
          const inText = found.filter((section) => !inTitle.includes(section));
          return (
            <>
              <p className="hint" role="status">
                {t.found(found.length, SHOWN)}
              </p>
              <ul className="hits">
                {[...inTitle, ...inText].slice(0, SHOWN).map(({ page, title, hash, text }) => (
                  <li key={`${page}${hash}`}>
                    <Link to={`/documentation/${page}${hash}`}>
                      {t.names[page]}
                      {hash && `: ${title}`}
                      <br />
                      <span className="hint">{excerptOf(text, words)}</span>
                    </Link>
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

const hasAll = (text: string, words: string[]): boolean => {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
};

function sectionsOf(page: PageName, source: string): Section[] {
  const sections: Section[] = [];
  for (const token of marked.lexer(source) as MarkedToken[]) {
    if (token.type === 'heading') {
      const title = token.text.replaceAll('`', '');
      sections.push({ page, title, hash: token.depth === 1 ? '' : `#${anchorOf(token.text)}`, text: '' });
    } else {
      const section = sections.at(-1);
      if (section) section.text += plainOf(token.raw);
    }
  }
  return sections;
}

/** Leaves out the marks of Markdown and the targets of links. */
const plainOf = (markdown: string): string =>
  markdown
    .replaceAll(/\]\([^)]*\)|[`*[\]]/g, '')
    .replaceAll(/\| *-+ *(?=\|)|\||\s+/g, ' ')
    .replaceAll(/ +/g, ' ');

function excerptOf(text: string, words: string[]): string {
  const lower = text.toLowerCase();
  const at = Math.max(0, lower.indexOf(words.find((word) => lower.includes(word)) ?? ''));
  const [start, end] = [Math.max(0, at - CONTEXT), at + CONTEXT];
  return `${start > 0 ? '…' : ''}${text.slice(start, end).trim()}${end < text.length ? '…' : ''}`;
}
