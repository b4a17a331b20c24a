import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { anchorOf, type Block } from '../markdown';
import { CopyButton } from './copy-button';
import { Table } from './table';

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|(?<!\w)_([^_]+)_(?!\w)|\[([^\]]+)\]\(([^)]+)\)/g;

/** Returns the target of a link on a page; null if the console does not show it, and the link becomes plain text. */
export type LinkTo = (href: string) => string | null;

function inline(text: string, linkTo: LinkTo): ReactNode[] {
  const nodes: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [all, code, strong, emphasis, label, href] = match;
    nodes.push(text.slice(end, match.index));
    end = match.index + all.length;
    if (code !== undefined) nodes.push(<code key={end}>{code}</code>);
    else if (strong !== undefined) nodes.push(<strong key={end}>{inline(strong, linkTo)}</strong>);
    else if (emphasis !== undefined) nodes.push(<em key={end}>{inline(emphasis, linkTo)}</em>);
    else nodes.push(<Anchor key={end} href={linkTo(href!)} content={inline(label!, linkTo)} />);
  }
  return [...nodes, text.slice(end)];
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

interface Props {
  blocks: Block[];
  linkTo: LinkTo;
}

export const Markdown = ({ blocks, linkTo }: Props) =>
  blocks.map((block, index) => <OneBlock key={index} block={block} linkTo={linkTo} />);

function OneBlock({ block, linkTo }: { block: Block; linkTo: LinkTo }) {
  switch (block.kind) {
    case 'heading': {
      // The screen has a heading of its own.
      const Heading = `h${block.level + 1}` as 'h2';
      return (
        <Heading id={anchorOf(block.text)} tabIndex={-1}>
          {inline(block.text, linkTo)}
        </Heading>
      );
    }
    case 'code':
      return (
        <div className="code-with-copy">
          <CopyButton text={block.text} of={block.text.split('\n')[0]!.slice(0, 60)} />
          <pre className="code-block" tabIndex={0}>
            <code>{block.text}</code>
          </pre>
        </div>
      );
    case 'list': {
      const List = block.isOrdered ? 'ol' : 'ul';
      return (
        <List>
          {block.items.map((item, index) => (
            <li key={index}>
              <Item blocks={item} linkTo={linkTo} />
            </li>
          ))}
        </List>
      );
    }
    case 'table':
      return (
        <Table
          caption={block.caption}
          rows={block.rows}
          keyOf={(_, index) => index}
          columns={block.head.map((name, index) => ({
            name,
            isHead: index === 0,
            cell: (row: string[]) => inline(row[index] ?? '', linkTo),
          }))}
        />
      );
    case 'text':
      return <p>{inline(block.text, linkTo)}</p>;
  }
}

/** The first text of an item stands beside its marker, without a paragraph of its own. */
const Item = ({ blocks: [first, ...rest], linkTo }: Props) => (
  <>
    {first?.kind === 'text' && inline(first.text, linkTo)}
    <Markdown blocks={first && first.kind !== 'text' ? [first, ...rest] : rest} linkTo={linkTo} />
  </>
);
