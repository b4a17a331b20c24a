import { marked, type MarkedToken, type Token, type Tokens } from 'marked';
import { useMemo, type ReactNode } from 'react';
import { Link } from 'react-router';
import { anchorOf } from '../anchor';
import { CopyButton } from './copy-button';
import { Table } from './table';

/** Returns the target of a link on a page; null if the console does not show it, and the link becomes plain text. */
export type LinkTo = (href: string) => string | null;

/** Renders Markdown as React elements. HTML in it stays text. */
export function Markdown({ source, linkTo }: { source: string; linkTo: LinkTo }) {
  const tokens = useMemo(() => marked.lexer(source), [source]);
  return <Blocks tokens={tokens} linkTo={linkTo} />;
}

interface Props {
  tokens: Token[] | undefined;
  linkTo: LinkTo;
}

function Blocks({ tokens = [], linkTo }: Props) {
  let title = '';
  return (tokens as MarkedToken[]).map((token, index) => {
    if (token.type === 'heading') title = token.text;
    return <Block key={index} {...{ token, title, linkTo }} />;
  });
}

/** @param title of the section */
function Block({ token, title, linkTo }: { token: MarkedToken; title: string; linkTo: LinkTo }): ReactNode {
  switch (token.type) {
    case 'heading': {
      // The screen has a heading of its own.
      const Heading = `h${token.depth + 1}` as 'h2';
      return (
        <Heading id={anchorOf(token.text)} tabIndex={-1}>
          <Inline tokens={token.tokens} linkTo={linkTo} />
        </Heading>
      );
    }
    case 'code':
      return (
        <div className="code-with-copy">
          <CopyButton text={token.text} of={token.text.split('\n')[0]!.slice(0, 60)} />
          <pre className="code-block" tabIndex={0}>
            <code>{token.text}</code>
          </pre>
        </div>
      );
    case 'list': {
      const List = token.ordered ? 'ol' : 'ul';
      return (
        <List>
          {token.items.map((item, index) => (
            <li key={index}>
              <Blocks tokens={item.tokens} linkTo={linkTo} />
            </li>
          ))}
        </List>
      );
    }
    case 'table':
      return (
        <Table
          caption={`${title}: ${token.header.map(({ text }) => text).join(', ')}`.replaceAll('`', '')}
          rows={token.rows}
          keyOf={(_, index) => index}
          columns={token.header.map(({ text }, index) => ({
            name: text,
            isHead: index === 0,
            cell: (row: Tokens.TableCell[]) => <Inline tokens={row[index]?.tokens} linkTo={linkTo} />,
          }))}
        />
      );
    case 'paragraph':
      return (
        <p>
          <Inline tokens={token.tokens} linkTo={linkTo} />
        </p>
      );
    // The text of an item stands beside its marker, without a paragraph of its own.
    case 'text':
      return <Inline tokens={token.tokens} linkTo={linkTo} />;
    default:
      return token.type === 'space' ? null : token.raw;
  }
}

function Inline({ tokens = [], linkTo }: Props): ReactNode {
  return (tokens as MarkedToken[]).map((token, index) => {
    const content = 'tokens' in token && <Inline tokens={token.tokens} linkTo={linkTo} />;
    switch (token.type) {
      case 'codespan':
        return <code key={index}>{token.text}</code>;
      case 'strong':
        return <strong key={index}>{content}</strong>;
      case 'em':
        return <em key={index}>{content}</em>;
      case 'link':
        return <Anchor key={index} href={linkTo(token.href)} content={content} />;
      case 'escape':
      case 'text':
        return token.text;
      default:
        return token.raw;
    }
  });
}

function Anchor({ href, content }: { href: string | null; content: ReactNode }) {
  if (href === null) return content;
  if (href.startsWith('https:'))
    return (
      <a href={href} rel="noreferrer" target="_blank">
        {content}
      </a>
    );
  return <Link to={href}>{content}</Link>;
}
