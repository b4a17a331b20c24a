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
import { Reader, type Patience } from './reader.js';

/** How long the names of an account are believed; new ones are in the answers within seconds anyway. */
const FRESH_MS = 1_000;
const MAX_ACCOUNTS = 1_000;
/** Names that `/v1/meta` lists. */
const MAX_LISTED = 1_000;
/** Names from here on may not have been kept, see attribute-names.ts. */
const FULL = 2_000;

/** The model as an account sees it. */
@Injectable()
export class AccountModels {
  private readonly known = new LRUCache<string, Promise<string[]>>({ max: MAX_ACCOUNTS, ttl: FRESH_MS });
  /** Without an account's own dimensions: for queries that name none of them. */
  private readonly common: Model;

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
    const named = new Set(queries.flatMap(membersOf).flatMap((path) => attributeOfMember(path) ?? []));
    if (named.size === 0) return this.common;
    const names: AttributeName[] = [];
    let isFull = false;
    await this.reader.read(
      account,
      [
        {
          text: `select name from attribute_names where account_id = $1 and replace(name, '-', '_') = any($2::text[])`,
          params: [account, [...named]],
          onRow: ([name]) => names.push({ name: name as string }),
        },
        {
          text: `select count(*) from (select from attribute_names where account_id = $1 limit ${FULL}) n`,
          params: [account],
          onRow: ([count]) => (isFull = Number(count) === FULL),
        },
      ],
      patience,
    );
    const found = new Set(names.map(({ name }) => dimensionOfAttribute(name)));
    // Where names were left out, one that is not there may have been used all the same.
    if (isFull)
      for (const name of named)
        if (!found.has(dimensionOfAttribute(name))) names.push({ name, isFolded: true });
    return this.modelOf(names);
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

const byName = (name: string): AttributeName => ({ name });
