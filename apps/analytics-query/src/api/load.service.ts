import { Inject, Injectable } from '@nestjs/common';
import type { QueryCaller } from '../access/token.guard.js';
import { ENV } from '@perkway/platform';
import type { AnalyticsQueryEnv } from '../env.js';
import { metaOf } from '../model/meta.js';
import { isAttributeMember, type Model } from '../model/model.js';
import { multiAnswer, singleAnswer, type QueryRows } from '../query/answer.js';
import { compile, membersOf } from '../query/compile.js';
import { dryRunAnswer, sqlAnswer, type DescribedQuery } from '../query/describe.js';
import { normalize, type NormalizedQueries } from '../query/normalize.js';
import type { NormalizedQuery } from '../query/query.js';
import { queryError } from '../query/query-error.js';
import { AccountModels } from '../reader/account-models.js';
import { AccountQueue } from '../reader/account-queue.js';
import { Reader } from '../reader/reader.js';

/** Answers queries: normalise, compile, read, shape. */
@Injectable()
export class LoadService {
  private readonly queue: AccountQueue;

  constructor(
    @Inject(ENV) env: AnalyticsQueryEnv,
    @Inject(Reader) private readonly reader: Reader,
    @Inject(AccountModels) private readonly models: AccountModels,
  ) {
    this.queue = new AccountQueue({
      concurrency: env.QUERY_CONCURRENCY,
      queue: env.QUERY_QUEUE,
      maxWaitMs: env.QUERY_TIMEOUT_MS,
    });
  }

  async meta({ account }: QueryCaller) {
    return this.queue.run(account, async () => metaOf(await this.models.get(account)));
  }

  /** The statements that `load` would run: one, or a list for compared and blended queries. */
  async sql({ account }: QueryCaller, input: unknown) {
    const normalized = normalize(input, Date.now());
    const described = await this.compileAll(account, normalized);
    return normalized.queryType === 'regularQuery' ? sqlAnswer(described[0]!) : described.map(sqlAnswer);
  }

  /** What `load` would make of the query. */
  async dryRun({ account }: QueryCaller, input: unknown) {
    const normalized = normalize(input, Date.now());
    return dryRunAnswer(normalized.queryType, await this.compileAll(account, normalized));
  }

  /** @param isMulti whether the client takes several results, as the Cube client says it does */
  async load({ account }: QueryCaller, input: unknown, isMulti: boolean) {
    const normalized = normalize(input, Date.now());
    if (normalized.queryType !== 'regularQuery' && !isMulti)
      throw queryError(
        `'${normalized.queryType}' query type is not supported by the client.Please update the client.`,
      );
    return this.queue.run(account, async () => {
      const refreshedAt = new Date().toISOString();
      const results = await this.read(account, await this.compileAll(account, normalized));
      return isMulti
        ? multiAnswer(normalized.queryType, results, refreshedAt)
        : singleAnswer(results[0]!, refreshedAt);
    });
  }

  private async compileAll(account: string, { queries }: NormalizedQueries): Promise<DescribedQuery[]> {
    const model = await this.modelOf(account, queries);
    return queries.map((query) => ({ query, compiled: compile(query, model, account) }));
  }

  private modelOf(account: string, queries: NormalizedQuery[]): Model | Promise<Model> {
    const isCommon = !queries.some((query) => membersOf(query).some(isAttributeMember));
    return isCommon ? this.models.common : this.models.get(account);
  }

  private async read(account: string, described: DescribedQuery[]): Promise<QueryRows[]> {
    const statements = described.flatMap(({ compiled: { text, params, total } }) =>
      total ? [{ text, params }, total] : [{ text, params }],
    );
    const answers = (await this.reader.read(account, statements)).values();
    return described.map((each): QueryRows => {
      const rows = answers.next().value!;
      const total = each.compiled.total ? Number(answers.next().value![0]![0]) : undefined;
      return { ...each, rows, total };
    });
  }
}
