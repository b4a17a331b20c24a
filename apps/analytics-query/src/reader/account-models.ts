import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import { LRUCache } from 'lru-cache';
import type { AnalyticsQueryEnv } from '../env.js';
import {
  attributeOfMember,
  dimensionOfAttribute,
  modelFor,
  type AttributeName,
  type Model,
} from '../model/model.js';
import { membersOf } from '../query/compile.js';
import type { NormalizedQuery } from '../query/query.js';
import { Reader, type QueryDeadline, type Statement } from './reader.js';

/** How long the names that `/v1/meta` lists are cached. */
const FRESH_MS = 1_000;
const MAX_ACCOUNTS = 1_000;
/** Cached characters in total and per query: a query may name thousands of attributes. */
const MAX_REMEMBERED = 4_000_000;
const MAX_REMEMBERED_OF_QUERY = 50_000;
/** Names that `/v1/meta` lists, and how many of those may come from calls without a key, which anyone can make. */
const MAX_LISTED = 1_000;
const MAX_LISTED_UNKEYED = 50;
/** With this many names, further ones may not have been stored; see attribute-names.ts. */
const FULL = 2_000;

/** The stored attribute names that match those in queries. */
export interface Attributes {
  /** Stored names that equal them once `-` is written as `_`; sorted, so that two results can be compared. */
  names: string[];
  /** The account's names are full, so a missing name may have been used after all. */
  isFull: boolean;
}

/** Returns the attributes that queries name, with `-` written as `_`, sorted. */
export const attributesIn = (queries: NormalizedQuery[]): string[] =>
  [...new Set(queries.flatMap(membersOf).flatMap((path) => attributeOfMember(path) ?? []))].sort();

export const attributesOf = (account: string, named: string[]): Statement => ({
  text: `select
      (select string_agg(name, ',' order by name) from attribute_names
       where account_id = $1 and replace(name, '-', '_') = any($2::text[])),
      (select count(*) from (select from attribute_names where account_id = $1 limit ${FULL}) n)`,
  params: [account, named],
});

export const readAttributes = ([names, count]: unknown[]): Attributes => ({
  names: names ? (names as string).split(',') : [],
  isFull: Number(count) === FULL,
});

export const areSame = (a: Attributes, b: Attributes): boolean =>
  a.isFull === b.isFull && a.names.join() === b.names.join();

/** Builds the model for each account. */
@Injectable()
export class AccountModels {
  private readonly known = new LRUCache<string, Promise<string[]>>({ max: MAX_ACCOUNTS, ttl: FRESH_MS });
  /** The last known attributes per query. */
  private readonly attributes = new LRUCache<string, Attributes>({
    max: MAX_ACCOUNTS,
    maxSize: MAX_REMEMBERED,
    maxEntrySize: MAX_REMEMBERED_OF_QUERY,
    sizeCalculation: ({ names }, key) => key.length + names.reduce((sum, { length }) => sum + length, 0),
  });
  /** Without attribute dimensions: for queries that name none. */
  readonly common: Model;

  constructor(
    private readonly reader: Reader,
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
  ) {
    this.common = this.modelFrom([]);
  }

  /**
   * Returns the names that `/v1/meta` lists: names from calls with a key first, then a few that anyone may have put
   * into a link.
   */
  async listed(account: string, queryDeadline: QueryDeadline): Promise<string[]> {
    let names = this.known.get(account);
    if (!names) {
      names = this.list(account, queryDeadline);
      this.known.set(account, names);
      names.catch(() => this.known.delete(account));
    }
    return names;
  }

  modelOf(names: readonly string[]): Model {
    return this.modelFrom(names.map(byName));
  }

  /** Returns the model with the attribute dimensions that the queries name, whether or not `/v1/meta` lists them. */
  async for(account: string, queries: NormalizedQuery[], queryDeadline: QueryDeadline): Promise<Model> {
    const named = attributesIn(queries);
    return this.with(named, await this.read(account, named, queryDeadline));
  }

  /** @param named in the form that `attributesIn` returns */
  with(named: string[], { names, isFull }: Attributes): Model {
    if (named.length === 0) return this.common;
    const found = new Set(names.map(dimensionOfAttribute));
    const folded = isFull ? named.filter((name) => !found.has(dimensionOfAttribute(name))) : [];
    return this.modelFrom([...names.map(byName), ...folded.map((name) => ({ name, isFolded: true }))]);
  }

  /** Returns the cached attributes, which may be stale, or else reads them. Only complete ones are cached (`learn`). */
  async cachedOrRead(account: string, named: string[], queryDeadline: QueryDeadline): Promise<Attributes> {
    return this.attributes.get(keyOf(account, named)) ?? this.read(account, named, queryDeadline);
  }

  learn(account: string, named: string[], attributes: Attributes): void {
    const found = new Set(attributes.names.map(dimensionOfAttribute));
    const isAllThere = attributes.isFull || named.every((name) => found.has(dimensionOfAttribute(name)));
    if (isAllThere) this.attributes.set(keyOf(account, named), attributes);
    else this.attributes.delete(keyOf(account, named));
  }

  private async read(account: string, named: string[], queryDeadline: QueryDeadline): Promise<Attributes> {
    if (named.length === 0) return { names: [], isFull: false };
    const [row] = await this.reader.rows(account, attributesOf(account, named), queryDeadline);
    const attributes = readAttributes(row!);
    this.learn(account, named, attributes);
    return attributes;
  }

  private readonly modelFrom = (names: AttributeName[]): Model => modelFor(names, this.env.FISCAL_YEAR_START);

  private async list(account: string, queryDeadline: QueryDeadline): Promise<string[]> {
    const rows = await this.reader.rows(
      account,
      {
        text: `(select name from attribute_names where account_id = $1 and keyed
            order by first_seen_at, name limit ${MAX_LISTED})
          union all
          (select name from attribute_names where account_id = $1 and not keyed
            order by first_seen_at, name limit ${MAX_LISTED_UNKEYED})
          limit ${MAX_LISTED}`,
        params: [account],
      },
      queryDeadline,
    );
    return rows.map(([name]) => name as string);
  }
}

const keyOf = (account: string, named: string[]): string => `${account} ${named.join()}`;
const byName = (name: string): AttributeName => ({ name });
