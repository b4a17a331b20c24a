import type { Call, CallOptions, Paged } from '@perkway/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { texts } from '../texts';
import { allOf, perkway, responseOf } from './perkway';
import { poolName } from './pools';
import type {
  Account,
  AuditQuery,
  Category,
  Limit,
  PutAccount,
  PutCampaign,
  PutCategory,
  PutCollection,
  PutLimit,
  PutPerk,
  PutPool,
  StoredCampaign,
  StoredCollection,
  StoredPerk,
  StoredPool,
} from './types';

interface Page<T> {
  data: T[];
  next_cursor: string | null;
}
export interface Query {
  q?: string;
  /** For kinds that belong to an account. */
  owner?: string;
  /** For collections and campaigns: those that contain the perk. */
  perk_id?: string;
  /** For perks: those of the category. */
  category_id?: number;
  limit?: number;
  cursor?: string;
}

/** A kind of resource that operators manage, and its calls. */
export interface Kind<T = { id: string | number; owner?: string }, B = never> {
  /** As in the audit log. */
  name: NonNullable<AuditQuery['kind']>;
  label: string;
  /** Singular and plural name. */
  counted: readonly [string, string];
  /** Declared as a method, so that `Kind<StoredPerk>` is assignable to `Kind` (method parameters are bivariant). */
  nameOf(stored: T): string;
  /** Path of the screen that lists the resources. */
  listPath: string;
  /** Path of the screen of one resource, without its id. */
  path: string;
  isOwned?: true;
  list: (query: Query, options?: CallOptions) => Paged<Page<T>>;
  read: (id: string) => Call<T>;
  /** Sends the ETag that was read, so that it does not overwrite a concurrent change. */
  write: (id: string, body: B, ifMatch?: string) => Call<T>;
  /** Missing for kinds that are never deleted. */
  remove?: (id: string, ifMatch?: string) => Call<undefined>;
}

const { perks: catalogue, boost, gift, token } = perkway;

export const ACCOUNTS: Kind<Account, PutAccount> = {
  name: 'accounts',
  label: texts.nav.accounts,
  counted: texts.counted.accounts,
  nameOf: ({ name }) => name,
  listPath: '/accounts',
  path: '/accounts',
  list: (query, options) => token.listAccounts(query, options),
  read: (accountId) => token.getAccount({ accountId }),
  write: (accountId, body, ifMatch) => token.putAccount({ ...body, accountId, ifMatch }),
};

export const CATEGORIES: Kind<Category, PutCategory> = {
  name: 'categories',
  label: texts.catalogue.categories,
  counted: texts.counted.categories,
  nameOf: ({ name }) => name,
  listPath: '/catalogue/categories',
  path: '/catalogue/categories',
  list: (query, options) => catalogue.listStoredCategories(query, options),
  read: (id) => catalogue.getStoredCategory({ id: id as never }),
  write: (id, body, ifMatch) => catalogue.putCategory({ ...body, id: id as never, ifMatch }),
  remove: (id, ifMatch) => catalogue.deleteCategory({ id: id as never, ifMatch }),
};

export const PERKS: Kind<StoredPerk, PutPerk> = {
  name: 'perks',
  label: texts.catalogue.perks,
  counted: texts.counted.perks,
  nameOf: ({ title }) => title,
  listPath: '/catalogue',
  path: '/catalogue/perks',
  list: (query, options) => catalogue.listStoredPerks(query, options),
  read: (perkId) => catalogue.getStoredPerk({ perkId }),
  write: (perkId, body, ifMatch) => catalogue.putPerk({ ...body, perkId, ifMatch }),
  remove: (perkId, ifMatch) => catalogue.deletePerk({ perkId, ifMatch }),
};

export const COLLECTIONS: Kind<StoredCollection, PutCollection> = {
  name: 'perk-collections',
  label: texts.catalogue.collections,
  counted: texts.counted.collections,
  nameOf: ({ id }) => id,
  listPath: '/catalogue/collections',
  path: '/catalogue/collections',
  isOwned: true,
  list: (query, options) => catalogue.listStoredPerkCollections(query, options),
  read: (collectionId) => catalogue.getStoredPerkCollection({ collectionId }),
  write: (collectionId, body, ifMatch) => catalogue.putPerkCollection({ ...body, collectionId, ifMatch }),
  remove: (collectionId, ifMatch) => catalogue.deletePerkCollection({ collectionId, ifMatch }),
};

export const CAMPAIGNS: Kind<StoredCampaign, PutCampaign> = {
  name: 'campaigns',
  label: texts.nav.campaigns,
  counted: texts.counted.campaigns,
  nameOf: ({ name }) => name,
  listPath: '/campaign-editor',
  path: '/campaign-editor',
  isOwned: true,
  list: (query, options) => boost.listStoredCampaigns(query, options),
  read: (campaignId) => boost.getStoredCampaign({ campaignId }),
  write: (campaignId, body, ifMatch) => boost.putCampaign({ ...body, campaignId, ifMatch }),
  remove: (campaignId, ifMatch) => boost.deleteCampaign({ campaignId, ifMatch }),
};

export const POOLS: Kind<StoredPool, PutPool> = {
  name: 'pools',
  label: texts.pools.pools,
  counted: texts.counted.pools,
  nameOf: poolName,
  listPath: '/pools',
  path: '/pools',
  isOwned: true,
  list: (query, options) => gift.listStoredGiftCardPools(query, options),
  read: (poolId) => gift.getStoredGiftCardPool({ poolId }),
  write: (poolId, body, ifMatch) => gift.putGiftCardPool({ ...body, poolId, ifMatch }),
  remove: (poolId, ifMatch) => gift.deleteGiftCardPool({ poolId, ifMatch }),
};

export const LIMITS: Kind<Limit, PutLimit> = {
  name: 'limits',
  label: texts.nav.limits,
  counted: texts.counted.limits,
  nameOf: ({ id }) => id,
  listPath: '/limit-editor',
  path: '/limit-editor',
  isOwned: true,
  list: (query, options) => gift.listStoredLimits(query, options),
  read: (limitId) => gift.getStoredLimit({ limitId }),
  write: (limitId, body, ifMatch) => gift.putLimit({ ...body, limitId, ifMatch }),
  remove: (limitId, ifMatch) => gift.deleteLimit({ limitId, ifMatch }),
};

/** Returns the path of the screen of one resource. */
export const pathOf = ({ path }: Pick<Kind, 'path'>, id: string | number) =>
  `${path}/${encodeURIComponent(id)}`;

const READ_ONLY = ['id', 'created_at', 'updated_at'];
/**
 * Returns the PUT body for a stored resource: all its members, including unknown ones, except the read-only ones and
 * those that are null.
 */
export const bodyOf = <B extends object>(stored: B): B =>
  Object.fromEntries(
    Object.entries(stored).filter(([name, value]) => !READ_ONLY.includes(name) && (value ?? null) !== null),
  ) as B;

const LISTED = 'managed';
/** The start of the query keys of all reads of the kind. */
export const keyOf = ({ name }: Pick<Kind, 'name'>) => [LISTED, name];

const FOUND_PER_PAGE = 50;
/** Reads the matches page by page, for a search field. */
export const useSearch = <T, B>(kind: Kind<T, B>, query: Query, enabled = true) =>
  useInfiniteQuery({
    enabled,
    queryKey: [...keyOf(kind), 'found', query],
    initialPageParam: '',
    queryFn: ({ pageParam: cursor, signal }) =>
      responseOf(
        kind.list(
          { limit: FOUND_PER_PAGE, ...query, owner: query.owner || undefined, ...(cursor && { cursor }) },
          { signal },
        ),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (before) => before,
  });

export const useAll = <T, B>(kind: Kind<T, B>, enabled = true) =>
  useQuery({ queryKey: [...keyOf(kind), 'all'], queryFn: () => allOf(kind.list({ limit: 200 })), enabled });
