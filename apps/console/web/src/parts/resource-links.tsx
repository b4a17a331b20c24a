import { Fragment } from 'react';
import { Link } from 'react-router';
import { pathOf, useSearch, type Kind, type Query } from '../api/managed';
import { texts } from '../texts';
import { Loaded } from './loaded';

interface Props<T> {
  kind: Kind<T>;
  query: Query;
  /** Keeps only some of the resources found. */
  filter?: (resource: T) => boolean;
}

/** Links to the first resources that a query finds. */
export function ResourceLinks<T extends { id: string | number }>({ kind, query, filter }: Props<T>) {
  const found = useSearch(kind, query);
  return (
    <Loaded query={found} lines={1}>
      {({ pages }) => {
        const all = pages[0]?.data ?? [];
        const items = filter ? all.filter(filter) : all;
        if (items.length === 0) return <span className="hint">{texts.none}</span>;
        return (
          <>
            {items.map((item, index) => (
              <Fragment key={item.id}>
                {index > 0 && ', '}
                <Link to={pathOf(kind, item.id)}>{kind.nameOf(item)}</Link>
              </Fragment>
            ))}
            {found.hasNextPage && ', …'}
          </>
        );
      }}
    </Loaded>
  );
}
