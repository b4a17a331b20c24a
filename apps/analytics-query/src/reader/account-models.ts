import { Inject, Injectable } from '@nestjs/common';
import { modelFor, type Model } from '../model/model.js';
import { Reader } from './reader.js';

/** How long the names of an account are believed; new ones are in the answers within seconds anyway. */
const FRESH_MS = 1_000;
const MAX_ACCOUNTS = 1_000;
/** Anybody can put names into a click; the first ones that an account used become dimensions, all are in `cmeta`. */
const MAX_NAMES = 1_000;

interface Known {
  model: Promise<Model>;
  at: number;
}

const EMPTY = modelFor([]);

/** The model as an account sees it. */
@Injectable()
export class AccountModels {
  private readonly known = new Map<string, Known>();

  constructor(@Inject(Reader) private readonly reader: Reader) {}

  /** The model without the account's own dimensions: for queries that name none of them. */
  readonly common = EMPTY;

  async get(account: string): Promise<Model> {
    const known = this.known.get(account);
    if (known && Date.now() - known.at < FRESH_MS) return known.model;
    const model = this.load(account);
    this.known.delete(account);
    this.known.set(account, { model, at: Date.now() });
    if (this.known.size > MAX_ACCOUNTS) this.known.delete(this.known.keys().next().value!);
    model.catch(() => this.known.delete(account));
    return model;
  }

  private async load(account: string): Promise<Model> {
    const [rows = []] = await this.reader.read(account, [
      {
        text: `select name from attribute_names where account_id = $1 order by first_seen_at, name limit ${MAX_NAMES}`,
        params: [account],
      },
    ]);
    return modelFor(rows.map(([name]) => name as string));
  }
}
