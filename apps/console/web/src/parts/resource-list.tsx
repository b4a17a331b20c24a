import type { ReactNode } from 'react';
import { useSearch, type Kind } from '../api/managed';
import { formatMoment } from '../format';
import { texts } from '../texts';
import { AccountField, AccountLink } from './account-field';
import { TextField } from './fields';
import { Empty } from './loaded';
import { Pages } from './pages';
import { Card } from './screen';
import { useSearchFilters } from './search-filters';
import { Table, type Column } from './table';

interface Props<T, B> {
  kind: Kind<T, B>;
  caption: string;
  searchHint?: string;
  columns: Column<T>[];
  /** Shown instead of an empty list that is not filtered. */
  empty?: ReactNode;
}

/**
 * Searchable list of managed resources of one type, with their account and the time of the last change in the last
 * columns. The search is in the URL.
 */
export function ResourceList<T extends { id: string | number; owner?: string; updated_at: string }, B>({
  kind,
  caption,
  searchHint,
  columns,
  empty,
}: Props<T, B>) {
  const { valueOf, set } = useSearchFilters();
  const [q, owner] = [valueOf('q'), valueOf('owner')];
  const found = useSearch(kind, { q, owner });
  const ownerColumn: Column<T> = {
    name: texts.editor.owner,
    cell: ({ owner: id = '' }) => <AccountLink id={id} />,
  };
  return (
    <Card className="dense">
      <div className="stack">
        <div className={kind.isOwned ? 'form filters' : undefined} role="search">
          <TextField
            label={texts.search}
            type="search"
            value={q}
            onValue={(value) => set('q', value)}
            hint={searchHint}
          />
          {kind.isOwned && (
            <AccountField any={texts.anyAccount} value={owner} onValue={(value) => set('owner', value)} />
          )}
        </div>
        <Pages
          query={found}
          counted={kind.counted}
          empty={
            q || owner ? <Empty title={texts.nothingFound} /> : (empty ?? <Empty title={texts.nothingYet} />)
          }
        >
          {(rows) => (
            <Table
              caption={caption}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                ...columns,
                ...(kind.isOwned ? [ownerColumn] : []),
                {
                  name: texts.editor.changed,
                  cell: ({ updated_at }) => <span className="nowrap">{formatMoment(updated_at)}</span>,
                },
              ]}
            />
          )}
        </Pages>
      </div>
    </Card>
  );
}
