import { Inject, Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import type { QueryCaller } from '../access/token.guard.js';
import { ENV } from '@perkway/platform';
import type { AnalyticsQueryEnv } from '../env.js';
import {
  dataWriter,
  multiFrame,
  resultHead,
  type DescribedQuery,
  type RowWriter,
} from '../query/response.js';
import { compileAll } from '../query/compile-all.js';
import { compileTogether, isOneRow, type CompiledQuery } from '../query/compile.js';
import { checkCsv, csvHead, csvWriter } from '../query/csv.js';
import type { RollupWatermark } from '../query/rollup-watermark.js';
import { dryRunResponse, sqlResponse } from '../query/describe.js';
import { normalize, type NormalizedQueries, type QueryType } from '../query/normalize.js';
import { queryError } from '../query/query-error.js';
import {
  AccountModels,
  areSame,
  attributesIn,
  attributesOf,
  readAttributes,
  type Attributes,
} from '../reader/account-models.js';
import { RollupWatermarks, watermarkOf, holds, readWatermark } from '../reader/rollup-watermarks.js';
import { CpuShare } from '../reader/cpu-share.js';
import { QueryScheduler, type Work } from '../reader/query-scheduler.js';
import { Reader, type OnRow, type QueryDeadline, type Statement } from '../reader/reader.js';
import { RowFlow } from '../reader/row-flow.js';
import { keptFrom } from '../retention.js';
import { ResponseBody } from './response-body.js';
import { MetaBodies } from './meta-bodies.js';
import type { ReadQuery } from './request-query.js';
import { SharedResponses, type Payload } from './shared-responses.js';

/** Maximum sum of the `limit`s of all queries in one request. */
export const MAX_REQUEST_ROWS = 250_000;
/**
 * Queries are compiled with a cached watermark and cached attribute names. If these prove stale, the queries are
 * compiled and run again. The last attempt reads only raw rows and accepts the attribute names without checking them
 * again.
 */
const ATTEMPTS = 3;

const DAY_MS = 24 * 3_600_000;

/** `multi`: the client accepts several results, which it announces with `queryType=multi`. */
type Format = 'single' | 'multi' | 'csv';

interface Request {
  account: string;
  normalized: NormalizedQueries;
  format: Format;
}

/** Serves queries: normalizes, compiles, runs and formats them. */
@Injectable()
export class LoadService {
  private readonly scheduler: QueryScheduler;
  private readonly cpuShare = new CpuShare();
  private readonly shared = new SharedResponses();
  private readonly metaBodies = new MetaBodies();

  constructor(
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
    private readonly reader: Reader,
    private readonly models: AccountModels,
    private readonly watermarks: RollupWatermarks,
  ) {
    this.scheduler = new QueryScheduler({
      slots: env.READER_POOL_SIZE,
      perAccount: env.QUERY_CONCURRENCY,
      heavy: env.QUERY_HEAVY_CONCURRENCY,
      queue: env.QUERY_QUEUE,
    });
  }

  async meta({ account }: QueryCaller, isExtended: boolean, gone: AbortSignal): Promise<Buffer> {
    const names = await this.schedule({ account, signal: gone }, this.deadline(), (queryDeadline) =>
      this.models.listed(account, queryDeadline),
    );
    return this.metaBodies.get(account, isExtended, names, () => this.models.modelOf(names));
  }

  /**
   * Returns, as JSON, the statement that `load` would run over raw rows; an array of them for compared and blended
   * queries.
   */
  sql(caller: QueryCaller, read: ReadQuery, gone: AbortSignal): Promise<string> {
    return this.describe(caller, read, gone, ({ queryType }, described) =>
      queryType === 'regularQuery' ? sqlResponse(described[0]!) : described.map(sqlResponse),
    );
  }

  /** Returns, as JSON, how `load` would interpret the query. */
  dryRun(caller: QueryCaller, read: ReadQuery, gone: AbortSignal): Promise<string> {
    return this.describe(caller, read, gone, ({ queryType }, described) =>
      dryRunResponse(queryType, described),
    );
  }

  /**
   * Returns the body as JSON or CSV.
   * @param gone aborts when the client disconnects
   */
  async load(
    { account }: QueryCaller,
    read: ReadQuery,
    wantsCsv: boolean,
    gone: AbortSignal,
  ): Promise<Payload> {
    const deadline = this.deadline();
    const [request, key] = await this.runInCpuShare(account, deadline, gone, () => {
      const { query, isMulti } = read();
      const format: Format = wantsCsv ? 'csv' : isMulti ? 'multi' : 'single';
      const normalized = normalize(query, Date.now());
      if (format === 'csv') checkCsv(normalized.queryType);
      if (normalized.queryType !== 'regularQuery' && format === 'single')
        throw queryError(
          `'${normalized.queryType}' query type is not supported by the client.Please update the client.`,
        );
      if (normalized.queries.reduce((rows, { limit }) => rows + limit, 0) > MAX_REQUEST_ROWS)
        throw queryError(
          `The queries of one request may ask for at most ${MAX_REQUEST_ROWS} rows in total: use smaller limits`,
        );
      return [{ account, normalized, format }, JSON.stringify([account, format, normalized])] as const;
    });
    return this.shared.get(key, gone, (signal) => this.respond(request, deadline, signal));
  }

  private deadline(): number {
    return Date.now() + this.env.QUERY_TIMEOUT_MS;
  }

  /** Runs work with a signal that aborts at the deadline or when the client disconnects. */
  private async until<T>(
    deadline: number,
    gone: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    // Not AbortSignal.timeout(): Node 20 collects it as garbage while it is only part of another signal.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), deadline - Date.now());
    try {
      return await work(AbortSignal.any([gone, late.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs work that parses, validates or compiles queries in the account's share of the CPU. */
  private runInCpuShare<T>(
    account: string,
    deadline: number,
    gone: AbortSignal,
    work: () => T | Promise<T>,
  ): Promise<T> {
    return this.until(deadline, gone, (signal) => this.cpuShare.run(account, signal, work));
  }

  /** Runs work in the query scheduler. */
  private schedule<T>(
    work: Work,
    deadline: number,
    run: (queryDeadline: QueryDeadline) => Promise<T>,
  ): Promise<T> {
    return this.until(deadline, work.signal, (signal) =>
      this.scheduler.run({ ...work, signal }, (isBusy) => run({ deadline, signal, isBusy })),
    );
  }

  private respond(request: Request, deadline: number, signal: AbortSignal): Promise<Payload> {
    const flow = new RowFlow();
    const body = new ResponseBody(flow);
    this.schedule(
      { account: request.account, kind: kindOf(request), signal, flow },
      deadline,
      (queryDeadline) => this.write(request, body, queryDeadline, flow),
    ).then(
      () => body.end(),
      (error: unknown) => body.fail(error),
    );
    return body.ready;
  }

  private async write(
    { account, normalized, format }: Request,
    body: ResponseBody,
    queryDeadline: QueryDeadline,
    flow: RowFlow,
  ): Promise<void> {
    const named = attributesIn(normalized.queries);
    for (let attempt = 1; ; attempt += 1) {
      const assumedAttributes = await this.models.cachedOrRead(account, named, queryDeadline);
      const model = this.models.with(named, assumedAttributes);
      const assumedWatermark = attempt < ATTEMPTS ? await this.watermark(account, queryDeadline) : undefined;
      const described = await compileAll(normalized.queries, model, account, {
        watermark: assumedWatermark,
        keptFrom: this.keptFrom(),
      });
      const response = new ResponseText(body, shapeOf(normalized, described, format));
      // The watermark and attributes that hold for the queries: read before their rows, in the same snapshot.
      let seen: RollupWatermark | undefined;
      let seenAttributes: Attributes | undefined;
      const freshnessChecks = [
        ...(described.some(({ compiled }) => compiled.canUseRollup)
          ? [{ ...watermarkOf(account), onRow: (row: unknown[]) => (seen = readWatermark(row)) }]
          : []),
        ...(named.length > 0
          ? [
              {
                ...attributesOf(account, named),
                onRow: (row: unknown[]) => (seenAttributes = readAttributes(row)),
              },
            ]
          : []),
      ];
      const needsWatermark = described.some(({ compiled }) => compiled.readsRollup);
      const isStillValid = () =>
        (!needsWatermark || (!!assumedWatermark && !!seen && holds(assumedWatermark, seen))) &&
        (attempt === ATTEMPTS || !seenAttributes || areSame(assumedAttributes, seenAttributes));
      const statements = response.statements((write) => (row) => (isStillValid() ? write(row) : undefined));
      await this.reader.read(account, [...freshnessChecks, ...statements], queryDeadline, flow);
      if (seen) this.watermarks.learn(account, seen);
      if (seenAttributes) this.models.learn(account, named, seenAttributes);
      if (isStillValid()) return response.end();
    }
  }

  private async watermark(account: string, queryDeadline: QueryDeadline): Promise<RollupWatermark> {
    const known = this.watermarks.get(account);
    if (known) return known;
    const [row] = await this.reader.rows(account, watermarkOf(account), queryDeadline);
    const seen = readWatermark(row!);
    this.watermarks.learn(account, seen);
    return seen;
  }

  private keptFrom = (): number => keptFrom(this.env.RETENTION_MONTHS, Date.now());

  /** Compiles the queries and returns a response about them as JSON. */
  private async describe(
    { account }: QueryCaller,
    read: ReadQuery,
    gone: AbortSignal,
    respond: (normalized: NormalizedQueries, described: DescribedQuery[]) => object,
  ): Promise<string> {
    const deadline = this.deadline();
    const normalized = await this.runInCpuShare(account, deadline, gone, () =>
      normalize(read().query, Date.now()),
    );
    const { queries } = normalized;
    const model = await this.schedule({ account, signal: gone }, deadline, (queryDeadline) =>
      this.models.for(account, queries, queryDeadline),
    );
    return this.runInCpuShare(account, deadline, gone, async () => {
      const described = await compileAll(queries, model, account, { keptFrom: this.keptFrom() });
      return JSON.stringify(respond(normalized, described));
    });
  }
}

/**
 * Returns a key for queries of the same shape, which read about the same number of rows. Ignores the start of ranges,
 * the values of filters, and `order`, `limit`, `offset`, `total`, `timezone` and `responseFormat`.
 */
function kindOf({ account, normalized: { queries } }: Request): string {
  const kinds = queries.map(({ measures, dimensions, segments, timeDimensions, filters, ungrouped }) => ({
    measures,
    dimensions,
    segments,
    filters,
    ungrouped,
    times: timeDimensions.map(({ dimension, granularity, dateRange }) => ({
      dimension,
      granularity,
      days:
        dateRange && Math.round((Date.parse(`${dateRange[1]}Z`) - Date.parse(`${dateRange[0]}Z`)) / DAY_MS),
    })),
  }));
  const text = JSON.stringify([account, kinds], (name, value: unknown) =>
    name === 'values' ? undefined : value,
  );
  return hash('sha256', text, 'base64');
}

/** The text around the rows of a response. */
interface Shape {
  described: DescribedQuery[];
  head: string;
  /** Returns the text before the rows of one query; `after` is the text after them. */
  before: (index: number, total?: number) => string;
  writers: RowWriter[];
  after: string;
  tail: string;
}

function shapeOf(
  { queryType, queries }: NormalizedQueries,
  described: DescribedQuery[],
  format: Format,
): Shape {
  if (format === 'csv')
    return {
      described,
      head: csvHead(described[0]!, queryType),
      before: () => '',
      writers: described.map((each) => csvWriter(each, queryType)),
      after: '',
      tail: '',
    };
  const type: QueryType = format === 'multi' ? queryType : 'regularQuery';
  const [head, tail] = format === 'multi' ? multiFrame(queryType, queries) : ['', ''];
  const refreshedAt = new Date().toISOString();
  return {
    described,
    head,
    before: (index, total) => (index > 0 ? ',' : '') + resultHead(described[index]!, refreshedAt, total),
    writers: described.map((each) => dataWriter(each, type)),
    after: '}',
    tail,
  };
}

/** Returns how a grouped query reads raw rows (see `reads` of `Statement`). */
const readModeOf = ({ countsDistinct }: CompiledQuery) => (countsDistinct ? 'distinct' : 'groups');

/**
 * Returns whether these are two queries that each return one row of sums over raw rows, such as compared ranges. One
 * statement runs both in parallel; for more than two, it would need the memory of all at once.
 */
const areTwoSums = (described: DescribedQuery[]): boolean =>
  described.length === 2 &&
  described.every(({ query, compiled }) => !compiled.readsRollup && isOneRow(query, compiled.columns));

/** Writes the results of all queries of a request into its body, in order. */
class ResponseText {
  /** Index of the query whose rows are being written; -1 before the first. */
  private at = -1;
  private readonly totals: (number | undefined)[] = [];

  constructor(
    private readonly body: ResponseBody,
    private readonly shape: Shape,
  ) {}

  /** Returns the statements of all queries. Totals come first, because they are written before the rows. */
  statements(guarded: (write: OnRow) => OnRow): (Statement & { onRow: OnRow })[] {
    const { described } = this.shape;
    return [
      ...described.flatMap(({ compiled: { total } }, index) =>
        total ? [{ ...total, onRow: guarded(([count]) => (this.totals[index] = Number(count))) }] : [],
      ),
      ...(areTwoSums(described) ? [this.together(guarded)] : this.oneByOne(guarded)),
    ];
  }

  private oneByOne(guarded: (write: OnRow) => OnRow): (Statement & { onRow: OnRow })[] {
    return this.shape.described.map(({ query, compiled }, index) => ({
      text: compiled.text,
      params: compiled.params,
      reads: compiled.readsRollup ? undefined : query.ungrouped ? 'list' : readModeOf(compiled),
      onRow: guarded((row) => this.write(index, row)),
    }));
  }

  private together(guarded: (write: OnRow) => OnRow): Statement & { onRow: OnRow } {
    const { described } = this.shape;
    return {
      ...compileTogether(described.map(({ compiled }) => compiled)),
      reads: readModeOf(described[0]!.compiled),
      onRow: guarded((row) => this.write(row[described[0]!.compiled.columns.length] as number, row)),
    };
  }

  end(): void {
    this.goTo(this.shape.described.length);
  }

  private write(index: number, row: unknown[]): void {
    this.goTo(index);
    this.body.write(this.shape.writers[index]!.row(row));
  }

  /**
   * Ends all results before this index, including empty ones, and begins the result at the index, or the tail after the
   * last.
   */
  private goTo(index: number): void {
    const { described, head, before, writers, after, tail } = this.shape;
    while (this.at < index) {
      if (this.at >= 0) {
        for (const piece of writers[this.at]!.end()) this.body.write(piece);
        this.body.write(after);
      } else this.body.write(head);
      this.at += 1;
      this.body.write(this.at < described.length ? before(this.at, this.totals[this.at]) : tail);
    }
  }
}
