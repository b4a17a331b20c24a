import { useState } from 'react';
import { useFound, type Kind } from '../api/managed';
import { formatMoment } from '../format';
import { texts } from '../texts';
import { TextField } from './fields';
import { Empty, Loaded } from './loaded';
import { Card } from './screen';
import { Table, type Column } from './table';

interface Props<T, B> {
  kind: Kind<T, B>;
  caption: string;
  searchHint?: string;
  columns: Column<T>[];
}

/** Searchable list of managed resources of one type, with the time of the last change in the last column. */
export function ResourceList<T extends { id: string | number; updated_at: string }, B>({
  kind,
  caption,
  searchHint,
  columns,
}: Props<T, B>) {
  const [q, setQ] = useState('');
  const found = useFound(kind, q);
  return (
    <Card>
      <div className="stack">
        <TextField label={texts.search} type="search" value={q} onValue={setQ} hint={searchHint} />
        <Loaded
          query={found}
          isEmpty={({ data }) => data.length === 0}
          empty={<Empty title={q ? texts.nothingFound : texts.nothingYet} />}
        >
          {({ data }) => (
            <Table
              caption={caption}
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                ...columns,
                { name: texts.editor.changed, cell: ({ updated_at }) => formatMoment(updated_at) },
              ]}
            />
          )}
        </Loaded>
      </div>
    </Card>
  );
}
