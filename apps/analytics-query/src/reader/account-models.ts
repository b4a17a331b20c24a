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
import { Reader, type Patience, type Statement } from './reader.js';

/** How long the names of an account are believed; new ones are in the answers within seconds anyway. */
const FRESH_MS = 1_000;
const MAX_ACCOUNTS = 1_000;
/** Characters of what is remembered of queries, in all and of one: a query may name thousands of attributes. */
const MAX_REMEMBERED = 4_000_000;
const MAX_REMEMBERED_OF_QUERY = 50_000;
/** Names that `/v1/meta` lists. */
const MAX_LISTED = 1_000;
/** Names from here on may not have been kept, see attribute-names.ts. */
const FULL = 2_000;

/** What the database says of the attributes that queries name. */
export interface Attributes {
  /** Names that fold onto one of those; in one order, so that two of these can be compared. */
  names: string[];
  /** Names were left out, so that one that is not there may have been used all the same. */
  isFull: boolean;
}

/** The attributes that queries name, `-` written as `_`; in one order. */
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

/** The model as an account sees it. */
@Injectable()
export class AccountModels {
  private readonly known = new LRUCache<string, Promise<string[]>>({ max: MAX_ACCOUNTS, ttl: FRESH_MS });
  /** What was said of the attributes of a query the last time. */
  private readonly attributes = new LRUCache<string, Attributes>({
    max: MAX_ACCOUNTS,
    maxSize: MAX_REMEMBERED,
    maxEntrySize: MAX_REMEMBERED_OF_QUERY,
    sizeCalculation: ({ names }, key) => key.length + names.reduce((sum, { length }) => sum + length, 0),
  });
  /** Without an account's own dimensions: for queries that name none of them. */
  readonly common: Model;

  constructor(
    @Inject(Reader) private readonly reader: Reader,
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
  ) {
    this.common = this.modelOf([]);
  }

  /** What `/v1/meta` shows: names that calls with a key used before those that anybody put into a link. */
  async listed(account: string, patience: Patience): Promise<Model> {
    let names = this.known.get(account);
    if (!names) {
      names = this.list(account, patience);
      this.known.set(account, names);
      names.catch(() => this.known.delete(account));
    }
    return this.modelOf((await names).map(byName));
  }

  /** With the attribute dimensions that the queries name, whether or not they are listed. */
  async for(account: string, queries: NormalizedQuery[], patience: Patience): Promise<Model> {
    const named = attributesIn(queries);
    return this.with(named, await this.read(account, named, patience));
  }

  /** @param named as `attributesIn` says */
  with(named: string[], { names, isFull }: Attributes): Model {
    if (named.length === 0) return this.common;
    const found = new Set(names.map(dimensionOfAttribute));
    const folded = isFull ? named.filter((name) => !found.has(dimensionOfAttribute(name))) : [];
    return this.modelOf([...names.map(byName), ...folded.map((name) => ({ name, isFolded: true }))]);
  }

  /** What was learnt last, which may be behind; the truth where something was missing then. */
  async supposed(account: string, named: string[], patience: Patience): Promise<Attributes> {
    return this.attributes.get(keyOf(account, named)) ?? this.read(account, named, patience);
  }

  learn(account: string, named: string[], attributes: Attributes): void {
    const found = new Set(attributes.names.map(dimensionOfAttribute));
    const isAllThere = attributes.isFull || named.every((name) => found.has(dimensionOfAttribute(name)));
    if (isAllThere) this.attributes.set(keyOf(account, named), attributes);
    else this.attributes.delete(keyOf(account, named));
  }

  private async read(account: string, named: string[], patience: Patience): Promise<Attributes> {
    if (named.length === 0) return { names: [], isFull: false };
    const [row] = await this.reader.rows(account, attributesOf(account, named), patience);
    const attributes = readAttributes(row!);
    this.learn(account, named, attributes);
    return attributes;
  }

  private readonly modelOf = (names: AttributeName[]): Model => modelFor(names, this.env.FISCAL_YEAR_START);

  private async list(account: string, patience: Patience): Promise<string[]> {
    const rows = await this.reader.rows(
      account,
      {
        text: `select name from attribute_names where account_id = $1
          order by keyed desc, first_seen_at, name limit ${MAX_LISTED}`,
        params: [account],
      },
      patience,
    );
    return rows.map(([name]) => name as string);
  }
}

const keyOf = (account: string, named: string[]): string => `${account} ${named.join()}`;
const byName = (name: string): AttributeName => ({ name });
