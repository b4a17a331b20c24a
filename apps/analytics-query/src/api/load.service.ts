import { Inject, Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { QueryCaller } from '../access/token.guard.js';
import { ENV } from '@perkway/platform';
import type { AnalyticsQueryEnv } from '../env.js';
import { metaOf } from '../model/meta.js';
import { dataWriter, multiFrame, resultHead, type DescribedQuery, type RowWriter } from '../query/answer.js';
import { compile, compileTogether, isOneRow, type CompiledQuery } from '../query/compile.js';
import { checkCsv, csvHead, csvWriter } from '../query/csv.js';
import type { Coverage } from '../query/coverage.js';
import { dryRunAnswer, sqlAnswer } from '../query/describe.js';
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
import { Coverages, coverageOf, holds, readCoverage } from '../reader/coverages.js';
import { QuerySlots, type Work } from '../reader/query-slots.js';
import { Reader, type OnRow, type Patience, type Statement } from '../reader/reader.js';
import { keptFrom } from '../retention.js';
import { AnswerBody } from './answer-body.js';
import { SharedAnswers, type Answer } from './shared-answers.js';

/** Rows that the queries of one request may ask for together, by their limits. */
export const MAX_REQUEST_ROWS = 250_000;
/**
 * Hours may be closed or marked between two looks, and attributes used for the first time; then the queries are compiled
 * again, the last time for raw rows and for the attributes as they just were.
 */
const ATTEMPTS = 3;

const DAY_MS = 24 * 3_600_000;

/** `multi`: the client takes several results, as the Cube client says it does. */
export type Format = 'single' | 'multi' | 'csv';

interface Request {
  account: string;
  normalized: NormalizedQueries;
  format: Format;
}

/** Answers queries: normalise, compile, read, shape. */
@Injectable()
export class LoadService {
  private readonly slots: QuerySlots;
  private readonly shared = new SharedAnswers();

  constructor(
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
    @Inject(Reader) private readonly reader: Reader,
    @Inject(AccountModels) private readonly models: AccountModels,
    @Inject(Coverages) private readonly coverages: Coverages,
  ) {
    this.slots = new QuerySlots({
      slots: env.READER_POOL_SIZE,
      perAccount: env.QUERY_CONCURRENCY,
      heavy: env.QUERY_HEAVY_CONCURRENCY,
      queue: env.QUERY_QUEUE,
    });
  }

  meta({ account }: QueryCaller, isExtended: boolean, gone: AbortSignal) {
    return this.inTurn({ account, signal: gone }, async (patience) =>
      metaOf(await this.models.listed(account, patience), isExtended),
    );
  }

  /** The statements that `load` would run over raw rows: one, or a list for compared and blended queries. */
  async sql(caller: QueryCaller, input: unknown, gone: AbortSignal) {
    const normalized = normalize(input, Date.now());
    const described = await this.describe(caller, normalized, gone);
    return normalized.queryType === 'regularQuery' ? sqlAnswer(described[0]!) : described.map(sqlAnswer);
  }

  /** What `load` would make of the query. */
  async dryRun(caller: QueryCaller, input: unknown, gone: AbortSignal) {
    const normalized = normalize(input, Date.now());
    return dryRunAnswer(normalized.queryType, await this.describe(caller, normalized, gone));
  }

  /**
   * The body as JSON or CSV text.
   * @param gone comes when nobody waits for the answer any more
   */
  async load({ account }: QueryCaller, input: unknown, format: Format, gone: AbortSignal): Promise<Answer> {
    const normalized = normalize(input, Date.now());
    if (format === 'csv') checkCsv(normalized.queryType);
    if (normalized.queryType !== 'regularQuery' && format === 'single')
      throw queryError(
        `'${normalized.queryType}' query type is not supported by the client.Please update the client.`,
      );
    if (normalized.queries.reduce((rows, { limit }) => rows + limit, 0) > MAX_REQUEST_ROWS)
      throw queryError(
        `The queries of one request may ask for at most ${MAX_REQUEST_ROWS} rows together: give them smaller limits`,
      );
    const key = JSON.stringify([account, format, normalized]);
    return this.shared.get(key, gone, (signal) => this.answer({ account, normalized, format }, signal));
  }

  /** Runs in its turn and before its deadline, which counts from now. */
  private inTurn<T>(
    asked: Work,
    work: (patience: Patience, hold: (isHeld: boolean) => void) => Promise<T>,
  ): Promise<T> {
    const deadline = Date.now() + this.env.QUERY_TIMEOUT_MS;
    const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(this.env.QUERY_TIMEOUT_MS)]);
    return this.slots.run({ ...asked, signal }, (isBusy, hold) => work({ deadline, signal, isBusy }, hold));
  }

  private answer(request: Request, signal: AbortSignal): Promise<Answer> {
    let socket: Socket | undefined;
    let hold: ((isHeld: boolean) => void) | undefined;
    const body = new AnswerBody({
      pause: () => {
        socket?.pause();
        hold?.(true);
      },
      resume: () => {
        socket?.resume();
        hold?.(false);
      },
    });
    this.inTurn({ account: request.account, kind: kindOf(request), signal }, (patience, held) => {
      hold = held;
      return this.write(request, body, patience, (from) => (socket = from));
    }).then(
      () => body.end(),
      (error: unknown) => body.fail(error),
    );
    return body.ready;
  }

  private async write(
    { account, normalized, format }: Request,
    body: AnswerBody,
    patience: Patience,
    attach: (socket: Socket | undefined) => void,
  ): Promise<void> {
    const named = attributesIn(normalized.queries);
    for (let attempt = 1; ; attempt += 1) {
      const supposedAttributes = await this.models.supposed(account, named, patience);
      const model = this.models.with(named, supposedAttributes);
      const supposed = attempt < ATTEMPTS ? await this.coverage(account, patience) : undefined;
      const described = normalized.queries.map((query) => ({
        query,
        compiled: compile(query, model, account, { coverage: supposed, keptFrom: this.keptFrom() }),
      }));
      const answer = new AnswerText(body, shapeOf(normalized, described, format));
      // Looked at in the snapshot of the queries and before their rows, also to know better the next time.
      let seen: Coverage | undefined;
      let seenAttributes: Attributes | undefined;
      const looks = [
        ...(described.some(({ compiled }) => compiled.hasCells)
          ? [{ ...coverageOf(account), onRow: (row: unknown[]) => (seen = readCoverage(row)) }]
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
      const needsCells = described.some(({ compiled }) => compiled.readsCells);
      const isRight = () =>
        (!needsCells || (!!supposed && !!seen && holds(supposed, seen))) &&
        (attempt === ATTEMPTS || !seenAttributes || areSame(supposedAttributes, seenAttributes));
      const statements = answer.statements((write) => (row) => (isRight() ? write(row) : undefined));
      try {
        await this.reader.read(account, [...looks, ...statements], patience, attach);
      } finally {
        // It is somebody else's now: what is still to be sent must not hold it up.
        attach(undefined);
      }
      if (seen) this.coverages.learn(account, seen);
      if (seenAttributes) this.models.learn(account, named, seenAttributes);
      if (isRight()) return answer.end();
    }
  }

  private async coverage(account: string, patience: Patience): Promise<Coverage> {
    const known = this.coverages.get(account);
    if (known) return known;
    const [row] = await this.reader.rows(account, coverageOf(account), patience);
    const seen = readCoverage(row!);
    this.coverages.learn(account, seen);
    return seen;
  }

  private keptFrom = (): number => keptFrom(this.env.RETENTION_MONTHS, Date.now());

  private async describe(
    { account }: QueryCaller,
    { queries }: NormalizedQueries,
    gone: AbortSignal,
  ): Promise<DescribedQuery[]> {
    // Only attributes are looked up in the database: in turn, as all that is asked there.
    const model =
      attributesIn(queries).length === 0
        ? this.models.common
        : await this.inTurn({ account, signal: gone }, (patience) =>
            this.models.for(account, queries, patience),
          );
    return queries.map((query) => ({
      query,
      compiled: compile(query, model, account, { keptFrom: this.keptFrom() }),
    }));
  }
}

/**
 * Queries of one kind read about as many rows: they differ in when their ranges begin, in the values that they filter by, and
 * in the page.
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

/** The texts around the rows of an answer. */
interface Shape {
  described: DescribedQuery[];
  head: string;
  /** Before and after the rows of one query. */
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

const groupsOf = ({ countsDifferent }: CompiledQuery) => (countsDifferent ? 'things' : 'groups');

/**
 * Two sums over raw rows, as of compared ranges: what each of them reads is worth a processor of its own. Of more than two
 * the one statement would hold the memory of all at once.
 */
const areTwoSums = (described: DescribedQuery[]): boolean =>
  described.length === 2 &&
  described.every(({ query, compiled }) => !compiled.readsCells && isOneRow(query, compiled.columns));

/** Writes the results of all queries of a request into its body, in their order. */
class AnswerText {
  /** The query whose rows come; -1 before the first. */
  private at = -1;
  private readonly totals: (number | undefined)[] = [];

  constructor(
    private readonly body: AnswerBody,
    private readonly shape: Shape,
  ) {}

  /** Totals come first, because they stand before the rows. */
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
      reads: compiled.readsCells ? undefined : query.ungrouped ? 'list' : groupsOf(compiled),
      onRow: guarded((row) => this.write(index, row)),
    }));
  }

  private together(guarded: (write: OnRow) => OnRow): Statement & { onRow: OnRow } {
    const { described } = this.shape;
    return {
      ...compileTogether(described.map(({ compiled }) => compiled)),
      reads: groupsOf(described[0]!.compiled),
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

  /** Ends the results before this one, also those without rows, and begins it. */
  private goTo(index: number): void {
    const { described, head, before, writers, after, tail } = this.shape;
    while (this.at < index) {
      if (this.at >= 0) this.body.write(writers[this.at]!.end() + after);
      else this.body.write(head);
      this.at += 1;
      this.body.write(this.at < described.length ? before(this.at, this.totals[this.at]) : tail);
    }
  }
}
