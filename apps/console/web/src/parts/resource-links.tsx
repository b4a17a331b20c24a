import { Fragment } from 'react';
import { Link } from 'react-router';
import { pathOf, useSearch, type Kind, type Query } from '../api/managed';
import { texts } from '../texts';
import { useAccountNames } from './account-field';
import { Loaded } from './loaded';

interface Props<T> {
  kind: Kind<T>;
  query: Query;
  /** Keeps only some of the resources found. */
  filter?: (resource: T) => boolean;
}

/** Links to the first resources that a query finds, grouped by account unless the query selects one account. */
export function ResourceLinks<T extends { id: string | number; owner?: string }>({
  kind,
  query,
  filter,
}: Props<T>) {
  const found = useSearch(kind, query);
  const isByAccount = kind.isOwned === true && query.owner === undefined;
  const nameOfAccount = useAccountNames(isByAccount);
  return (
    <Loaded query={found} lines={1}>
      {({ pages }) => {
        const all = pages[0]?.data ?? [];
        const items = filter ? all.filter(filter) : all;
        if (items.length === 0) return <span className="hint">{texts.none}</span>;
        const links = (of: T[]) =>
          of.map((item, index) => (
            <Fragment key={item.id}>
              {index > 0 && ', '}
              <Link to={pathOf(kind, item.id)}>{kind.nameOf(item)}</Link>
            </Fragment>
          ));
        if (!isByAccount)
          return (
            <>
              {links(items)}
              {found.hasNextPage && ', …'}
            </>
          );
        return (
          <ul>
            {[...Map.groupBy(items, ({ owner }) => owner!)].map(([owner, of]) => (
              <li key={owner}>
                {nameOfAccount(owner)}: {links(of)}
              </li>
            ))}
            {found.hasNextPage && <li>…</li>}
          </ul>
        );
      }}
    </Loaded>
  );
}
