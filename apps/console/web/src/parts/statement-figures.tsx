import { roundMoney } from '@perkway/domain/step-amounts';
import type { Statement, StatementFigure } from '../api/types';
import { formatMoney, formatNumber } from '../format';
import { texts } from '../texts';
import { Table } from './table';

const t = texts.statements;
/** What happened to the cards, from the start of the month to its end. */
export const CARD_FIGURES = ['opening', 'loaded', 'revealed', 'withdrawn', 'closing'] as const;
/** What became of the links; those outstanding may still be opened. */
export const LINK_FIGURES = ['generated', 'revealed', 'cancelled', 'expired', 'outstanding'] as const;
const ALL_FIGURES = [...new Set([...CARD_FIGURES, ...LINK_FIGURES])];
type Figures = Record<(typeof ALL_FIGURES)[number], StatementFigure>;

const add = (a: StatementFigure, b: StatementFigure): StatementFigure => ({
  cards: a.cards + b.cards,
  amount: roundMoney(a.amount + b.amount),
});

/** The sum of each figure, by currency. */
function totalsOf(rows: Statement['rows']): [currency: string, Figures][] {
  const totals = new Map<string, Figures>();
  for (const row of rows) {
    const before = totals.get(row.currency);
    const sums = ALL_FIGURES.map((name) => [name, before ? add(before[name], row[name]) : row[name]]);
    totals.set(row.currency, Object.fromEntries(sums) as Figures);
  }
  return [...totals];
}

export const figureColumns = <T extends Figures & { currency: string }>(
  names: readonly (keyof Figures)[],
  nameOf: Partial<Record<keyof Figures, string>> = {},
) =>
  names.map((name) => ({
    name: nameOf[name] ?? t.figures[name],
    isNumber: true,
    cell: (row: T) => (
      <>
        {formatMoney(row[name].amount, row.currency)}
        <br />
        <span className="hint">{formatNumber(row[name].cards)}</span>
      </>
    ),
  }));

interface Props {
  caption: string;
  rows: Statement['rows'];
  figures: readonly (keyof Figures)[];
  nameOf?: Partial<Record<keyof Figures, string>>;
}

/** Adds up figures of a statement by currency. */
export const TotalsByCurrency = ({ caption, rows, figures, nameOf }: Props) => (
  <Table
    caption={caption}
    rows={totalsOf(rows).map(([currency, sums]) => ({ currency, ...sums }))}
    keyOf={({ currency }) => currency}
    columns={[
      { name: t.currency, isHead: true, cell: ({ currency }) => currency },
      ...figureColumns(figures, nameOf),
    ]}
  />
);

/** What the links of a month cost, by currency. */
export const LinkCosts = ({ rows }: Pick<Props, 'rows'>) => (
  <TotalsByCurrency caption={t.costs} rows={rows} figures={LINK_FIGURES} nameOf={t.costFigures} />
);
