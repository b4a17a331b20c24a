import type { Call, CallOptions, Paged } from '@perkway/client';
import { useQuery } from '@tanstack/react-query';
import { allOf, perkway, responseOf } from './perkway';
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
interface Query {
  q?: string;
  limit?: number;
}

/** A kind of resource that operators manage, and its calls. */
export interface Kind<T = unknown, B = never> {
  /** As in the audit log. */
  name: NonNullable<AuditQuery['kind']>;
  list: (query: Query, options?: CallOptions) => Paged<Page<T>>;
  read: (id: string) => Call<T>;
  /** With the ETag that was read, so that a concurrent change is not overwritten. */
  write: (id: string, body: B, ifMatch?: string) => Call<T>;
  /** Missing for kinds that are never deleted. */
  remove?: (id: string, ifMatch?: string) => Call<undefined>;
}

const { perks: catalogue, boost, gift, token } = perkway;

export const ACCOUNTS: Kind<Account, PutAccount> = {
  name: 'accounts',
  list: (query, options) => token.listAccounts(query, options),
  read: (accountId) => token.getAccount({ accountId }),
  write: (accountId, body, ifMatch) => token.putAccount({ ...body, accountId, ifMatch }),
};

export const CATEGORIES: Kind<Category, PutCategory> = {
  name: 'categories',
  list: (query, options) => catalogue.listStoredCategories(query, options),
  read: (id) => catalogue.getStoredCategory({ id: id as never }),
  write: (id, body, ifMatch) => catalogue.putCategory({ ...body, id: id as never, ifMatch }),
  remove: (id, ifMatch) => catalogue.deleteCategory({ id: id as never, ifMatch }),
};

export const PERKS: Kind<StoredPerk, PutPerk> = {
  name: 'perks',
  list: (query, options) => catalogue.listStoredPerks(query, options),
  read: (perkId) => catalogue.getStoredPerk({ perkId }),
  write: (perkId, body, ifMatch) => catalogue.putPerk({ ...body, perkId, ifMatch }),
  remove: (perkId, ifMatch) => catalogue.deletePerk({ perkId, ifMatch }),
};

export const COLLECTIONS: Kind<StoredCollection, PutCollection> = {
  name: 'perk-collections',
  list: (query, options) => catalogue.listStoredPerkCollections(query, options),
  read: (collectionId) => catalogue.getStoredPerkCollection({ collectionId }),
  write: (collectionId, body, ifMatch) => catalogue.putPerkCollection({ ...body, collectionId, ifMatch }),
  remove: (collectionId, ifMatch) => catalogue.deletePerkCollection({ collectionId, ifMatch }),
};

export const CAMPAIGNS: Kind<StoredCampaign, PutCampaign> = {
  name: 'campaigns',
  list: (query, options) => boost.listStoredCampaigns(query, options),
  read: (campaignId) => boost.getStoredCampaign({ campaignId }),
  write: (campaignId, body, ifMatch) => boost.putCampaign({ ...body, campaignId, ifMatch }),
  remove: (campaignId, ifMatch) => boost.deleteCampaign({ campaignId, ifMatch }),
};

export const POOLS: Kind<StoredPool, PutPool> = {
  name: 'pools',
  list: (query, options) => gift.listStoredGiftCardPools(query, options),
  read: (poolId) => gift.getStoredGiftCardPool({ poolId }),
  write: (poolId, body, ifMatch) => gift.putGiftCardPool({ ...body, poolId, ifMatch }),
  remove: (poolId, ifMatch) => gift.deleteGiftCardPool({ poolId, ifMatch }),
};

export const LIMITS: Kind<Limit, PutLimit> = {
  name: 'limits',
  list: (query, options) => gift.listStoredLimits(query, options),
  read: (limitId) => gift.getStoredLimit({ limitId }),
  write: (limitId, body, ifMatch) => gift.putLimit({ ...body, limitId, ifMatch }),
  remove: (limitId, ifMatch) => gift.deleteLimit({ limitId, ifMatch }),
};

const ADDED = ['id', 'created_at', 'updated_at'];
/** Returns the PUT body for a stored resource. It keeps members that the console does not know. */
export const bodyOf = <B extends object>(stored: B): B =>
  Object.fromEntries(
    Object.entries(stored).filter(([name, value]) => !ADDED.includes(name) && (value ?? null) !== null),
  ) as B;

const LISTED = 'managed';
/** Key of everything that was read of the kind. */
export const keyOf = ({ name }: Pick<Kind, 'name'>) => [LISTED, name];

/** Reads one page of matches, enough for a search field. */
export const useFound = <T, B>(kind: Kind<T, B>, q: string) =>
  useQuery({
    queryKey: [...keyOf(kind), 'found', q],
    queryFn: ({ signal }) => responseOf(kind.list({ q, limit: 100 }, { signal })),
    placeholderData: (before) => before,
  });

export const useAll = <T, B>(kind: Kind<T, B>, enabled = true) =>
  useQuery({ queryKey: [...keyOf(kind), 'all'], queryFn: () => allOf(kind.list({ limit: 200 })), enabled });
