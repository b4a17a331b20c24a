import { Injectable } from '@nestjs/common';
import { PerkwayError, type Perkway } from '@perkway/client';
import {
  appendAttributes,
  ATTRIBUTE_VALUE_LIMIT,
  csvCell,
  ApiError,
  COUNT_LINK_STATES,
  invalidField,
  isUuid,
  lastOf,
  LIST_LINK_STATES,
  readCustomAttributes,
  unavailable,
  type Approvals,
  type LinkStates,
} from '@perkway/domain';
import {
  Clock,
  exactTime,
  KeysetPaginator,
  readOneOf,
  RpcClient,
  type ListQuery,
  type Page,
} from '@perkway/platform';
import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { responseOf, FleetClients } from '../fleet/fleet-clients.js';
import { createdBy } from '../sessions/created-by.js';
import { ConsoleKeys } from '../sessions/console-keys.js';
import type { Session } from '../sessions/session.js';
import {
  JOB_STATES,
  LINK_STATES,
  MAX_ATTRIBUTES,
  type CancelledLinksDto,
  type CreatedLinkJobDto,
  type CreateLinkJobDto,
  type LinkedReferencesDto,
  type LinkJobDto,
  type LinkJobState,
  type LinkOfJobDto,
} from './link-job.dto.js';
import { LinkJobRunner } from './link-job-runner.js';
import { mapConcurrently, makeLink, type JobRow, type LinkRequest } from './link-requests.js';

/** Lifetime of a job's key, longer than jobs usually run. */
const KEY_MS = 24 * 60 * 60_000;
const DEFAULT_DAYS = 90;
const APPROVAL_DAYS = 7;
const DAY_S = 24 * 60 * 60;
const CSV_ROWS = 200;
/** Maximum number of ids in a request of COUNT_LINK_STATES or LIST_LINK_STATES. */
const IDS_PER_RPC = 1_000;
/** Rows per call. The page repeats the call for the next rows. */
const CANCELLED_PER_CALL = 500;
const BATCH_POLLS = 20;
const BATCH_POLL_MS = 250;
/** No currency has more decimals. */
const DECIMALS = 4;
/** The names of the states of a link in a CSV, as in the console; a cancelled link is EXPIRED. */
const STATES = { RESERVED: 'waiting', REVEALED: 'opened', EXPIRED: 'expired' };
/** Attempts per link of a CSV or a cancellation, so that a rate limit or a replaced replica does not cut it short. */
const CSV_ATTEMPTS = 4;

export interface LinkJobRow {
  id: string;
  name: string | null;
  request: LinkRequest;
  total: number;
  made: number;
  failed: { row: number; code: string }[] | null;
  state: LinkJobState;
  refused: string | null;
  created_by: string;
  created_at: Date;
  creator_email: string | null;
  lapses_at: Date | null;
  decided_by: string | null;
  decided_at: Date | null;
  decision_comment: string | null;
  position: string;
}

const COLUMNS = `
  j.id, j.name, j.request, j.total, j.state, j.refused, j.created_by, j.created_at, j.creator_email, j.lapses_at, j.decided_by,
  j.decided_at, j.decision_comment, ${exactTime('j.created_at')} as position,
  (select count(*)::integer from link_job_rows r where r.job_id = j.id and r.link_id is not null) as made,
  (select json_agg(json_build_object('row', f.row, 'code', f.refused)) from (
    select row, refused from link_job_rows r where r.job_id = j.id and r.refused is not null order by row limit 100
  ) f) as failed`;

/** Returns why this session may not decide on the job while it waits; undefined if it may. */
export function refusedDecision({ email }: Session, { creator_email }: LinkJobRow) {
  if (email === null) return 'APPROVAL_BY_KEY';
  return email === creator_email ? 'APPROVAL_OWN_JOB' : undefined;
}

/** Returns whether a job is larger than the account allows without an approval. */
function needsApproval(approvals: Approvals | null, { denomination, currency }: LinkRequest, total: number) {
  const { links, amount } = approvals ?? {};
  const highest = amount?.find((each) => each.currency === currency)?.amount;
  // Rounded, because 3 * 0.1 exceeds 0.3 in floating point.
  const value = Number((total * denomination).toFixed(DECIMALS));
  return total > (links ?? Infinity) || value > (highest ?? Infinity);
}

/** @throws ApiError VALIDATION_FAILED for an attribute that gift-cards would drop */
function attributesOf({ attributes }: CreateLinkJobDto): Record<string, string> {
  const given = attributes ?? {};
  const kept = new URLSearchParams();
  appendAttributes(kept, readCustomAttributes(given));
  if (kept.size > MAX_ATTRIBUTES || kept.size < Object.keys(given).length)
    throw invalidField(
      'attributes',
      `must be at most ${MAX_ATTRIBUTES} \`utm_*\` and \`cmeta_*\` members with texts of fewer than ${ATTRIBUTE_VALUE_LIMIT} characters`,
    );
  return Object.fromEntries(kept);
}

/** Manages link jobs. `LinkJobRunner` creates their links in the background. */
@Injectable()
export class LinkJobsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: ConsoleKeys,
    private readonly clients: FleetClients,
    private readonly runner: LinkJobRunner,
    private readonly log: AuditLog,
    private readonly pages: KeysetPaginator,
    private readonly clock: Clock,
    private readonly rpc: RpcClient,
  ) {}

  /** Creates a job; the same key and body return the same job. @throws POOL_NOT_FOUND, IDEMPOTENCY_KEY_CONFLICT */
  async create(
    session: Session,
    idempotencyKey: unknown,
    body: CreateLinkJobDto,
  ): Promise<CreatedLinkJobDto> {
    if (!isUuid(idempotencyKey)) throw invalidField('Idempotency-Key', 'must be a UUID');
    const { name, references, count, campaign, country, poolId, denomination, currency, expires_at } = body;
    const references_are_journey_ids = body.references_are_journey_ids ?? false;
    if ((references == null) === (count == null))
      throw invalidField('references', 'or `count` must be given, but not both');
    if (references_are_journey_ids && references == null)
      throw invalidField('references_are_journey_ids', 'needs `references`');
    const rows: (string | null)[] = references ?? Array<null>(count!).fill(null);
    const request: LinkRequest = {
      pool_id: poolId,
      denomination,
      currency,
      country: country ?? null,
      campaign_id: campaign ?? null,
      expires_at: expires_at ?? Math.floor(this.clock.now() / 1000) + DEFAULT_DAYS * DAY_S,
      references_are_journey_ids,
      attributes: attributesOf(body),
    };
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    const known = await this.findByKey(session, idempotencyKey);
    if (known) return repeated(known, digest);
    await this.requirePool(session, poolId);
    const id = randomUUID();
    const key = await this.openKey(session);
    const isWaiting = needsApproval(key.approvals, request, rows.length);
    const state = isWaiting ? 'awaiting_approval' : 'running';
    const lapsesAt = isWaiting ? new Date(this.clock.now() + APPROVAL_DAYS * DAY_S * 1000) : null;
    // The approval opens another key.
    if (isWaiting) await this.keys.close([key.id]);
    const change = { action: 'POST', host: 'console', path: `/link-jobs/${id}`, before: null };
    const created = await this.log.record(
      session,
      change,
      () =>
        this.dataSource.transaction(async (manager) => {
          const inserted = await manager.query<unknown[]>(
            `insert into link_jobs
               (id, account_id, idempotency_key, request, request_digest, total, created_by, creator_email, state,
                lapses_at, key_secret, keyring_id, console_key_id, name)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) on conflict do nothing returning id`,
            [
              id,
              session.account,
              idempotencyKey,
              JSON.stringify(request),
              digest,
              rows.length,
              createdBy(session),
              session.email ?? key.maker,
              state,
              lapsesAt,
              key.secret,
              key.keyringId,
              key.id,
              name ?? null,
            ],
          );
          if (inserted.length === 0) return false;
          await manager.query(
            `insert into link_job_rows (job_id, row, reference)
             select $1, r.row, r.reference from unnest($2::text[]) with ordinality as r(reference, row)`,
            [id, rows],
          );
          return true;
        }),
      (isNew) => ({
        status: isNew ? 202 : 409,
        after: { name: name ?? null, ...request, total: rows.length, state },
      }),
    );
    if (!created) {
      // A concurrent request with the same key was first.
      await this.keys.close([key.id]);
      return repeated((await this.findByKey(session, idempotencyKey))!, digest);
    }
    this.runner.wake();
    return { id, state };
  }

  /** Returns the references for which a job of the account has created a link, or can still create one. */
  async checkReferences({ account }: Session, references: string[]): Promise<LinkedReferencesDto> {
    const [row] = await this.dataSource.query<[{ references: string[]; latest: Date | null }]>(
      `select coalesce(array_agg(distinct r.reference), '{}') as references, max(j.created_at) as latest
       from link_job_rows r join link_jobs j on j.id = r.job_id
       where r.reference = any($2) and j.account_id = $1
         and (r.link_id is not null or j.state not in ('rejected', 'lapsed'))`,
      [account, references],
    );
    return { references: row.references, latest: row.latest && row.latest.toISOString() };
  }

  async list(session: Session, query: ListQuery): Promise<Page<LinkJobDto>> {
    const { account } = session;
    const state = readOneOf('state', lastOf(query['state']), JOB_STATES);
    const page = this.pages.request<[time: string, id: string]>({ name: 'link-jobs' }, query, account);
    const rows = await this.dataSource.query<LinkJobRow[]>(
      `select ${COLUMNS} from link_jobs j
       where account_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3::uuid))
         and ($5::text is null or state = $5)
       order by created_at desc, id desc limit $4`,
      [account, page.after?.[0] ?? null, page.after?.[1] ?? null, page.rows, state ?? null],
    );
    return page.respond(
      rows,
      ({ position, id }) => [position, id],
      (row) => this.toDto(session, row),
    );
  }

  /** @throws JOB_NOT_FOUND */
  async get(session: Session, id: string): Promise<LinkJobDto> {
    return this.toDto(session, await this.find(session, id));
  }

  /** Stops the job. Links already created stay; resuming creates the rest. @throws JOB_NOT_FOUND */
  async stop(session: Session, id: string): Promise<LinkJobDto> {
    const before = await this.get(session, id);
    const change = {
      action: 'POST',
      host: 'console',
      path: `/link-jobs/${id}/stop`,
      before: summaryOf(before),
    };
    return this.log.record(
      session,
      change,
      async () => {
        const stop = `
          update link_jobs set state = 'stopped' where id = $1 and account_id = $2 and state = 'running'
          returning console_key_id`;
        const [stopped] = await this.dataSource.query<[{ console_key_id: string }[], number]>(stop, [
          id,
          session.account,
        ]);
        await this.keys.close(stopped.map(({ console_key_id }) => console_key_id));
        return this.get(session, id);
      },
      (after) => ({ status: 200, after: summaryOf(after) }),
    );
  }

  /** Continues the job with a new key of the session that resumes it. @throws JOB_NOT_FOUND */
  async resume(session: Session, id: string): Promise<LinkJobDto> {
    const before = await this.get(session, id);
    if (before.state !== 'stopped' && before.state !== 'failed') return before;
    const key = await this.openKey(session);
    const change = {
      action: 'POST',
      host: 'console',
      path: `/link-jobs/${id}/resume`,
      before: summaryOf(before),
    };
    const after = await this.log.record(
      session,
      change,
      async () => {
        const isResumed = await this.dataSource.transaction(async (manager) => {
          const [resumed] = await manager.query<[unknown[], number]>(
            // Keeps the lease: a batch from before the stop may still run.
            `update link_jobs set state = 'running', refused = null,
               key_secret = $3, keyring_id = $4, console_key_id = $5
             where id = $1 and account_id = $2 and state in ('stopped', 'failed') returning id`,
            [id, session.account, key.secret, key.keyringId, key.id],
          );
          await manager.query(
            'update link_job_rows set refused = null where job_id = $1 and refused is not null',
            [id],
          );
          return resumed.length > 0;
        });
        // Another request was first.
        if (!isResumed) await this.keys.close([key.id]);
        return this.get(session, id);
      },
      (job) => ({ status: 200, after: summaryOf(job) }),
    );
    this.runner.wake();
    return after;
  }

  /** Counts what became of the links of a job. @throws JOB_NOT_FOUND */
  async states(session: Session, id: string): Promise<LinkStates> {
    await this.find(session, id);
    const rows = await this.dataSource.query<{ link_id: string }[]>(
      'select link_id from link_job_rows where job_id = $1 and link_id is not null',
      [id],
    );
    const sum: LinkStates = { waiting: 0, opened: 0, cancelled: 0, expired: 0 };
    for (let at = 0; at < rows.length; at += IDS_PER_RPC) {
      const ids = rows.slice(at, at + IDS_PER_RPC).map(({ link_id }) => link_id);
      const states = await this.rpc.request(COUNT_LINK_STATES, { account: session.account, ids });
      for (const state of Object.keys(sum) as (keyof LinkStates)[]) sum[state] += states[state];
    }
    return sum;
  }

  /** Lists the links of a job with their states, in the order of its rows. @throws JOB_NOT_FOUND */
  async links(session: Session, id: string, query: ListQuery): Promise<Page<LinkOfJobDto>> {
    await this.find(session, id);
    const wanted = readOneOf('state', lastOf(query['state']), LINK_STATES);
    const page = this.pages.request<[row: number]>({ name: 'links-of-job' }, query, id);
    const size = wanted === undefined ? page.rows : IDS_PER_RPC;
    const found: LinkOfJobDto[] = [];
    let rows: MadeRow[];
    let after = page.after?.[0] ?? 0;
    do {
      rows = await this.dataSource.query<MadeRow[]>(
        `select row, reference, link_id from link_job_rows where job_id = $1 and link_id is not null and row > $2
         order by row limit $3`,
        [id, after, size],
      );
      const ids = rows.map(({ link_id }) => link_id);
      const { links } = await this.rpc.request(LIST_LINK_STATES, { account: session.account, ids });
      const byId = new Map(links.map((link) => [link.id, link]));
      for (const row of rows) {
        const link = byId.get(row.link_id);
        if (!link || (wanted !== undefined && link.state !== wanted)) continue;
        found.push({
          ...row,
          state: link.state,
          replaced_by: link.replacedBy ?? null,
          opened_at: link.openedAt,
          cancelled_at: link.cancelledAt,
        });
      }
      after = rows.at(-1)?.row ?? after;
    } while (rows.length === size && found.length < page.rows);
    return page.respond(
      found,
      ({ row }) => [row],
      (link) => link,
    );
  }

  /**
   * Stops the job if it still runs, and cancels the links of its next rows, except those that were opened. Repeating it
   * changes nothing.
   * @param after the row after which to begin
   * @throws JOB_NOT_FOUND
   */
  async cancel(session: Session, id: string, after: number): Promise<CancelledLinksDto> {
    await this.stop(session, id);
    await this.waitForBatch(id);
    const rows = await this.dataSource.query<{ row: number; link_id: string }[]>(
      `select row, link_id from link_job_rows where job_id = $1 and link_id is not null and row > $2
       order by row limit ${CANCELLED_PER_CALL}`,
      [id, after],
    );
    const perkway = this.clients.withKey(session.key, { tries: CSV_ATTEMPTS });
    const change = { action: 'POST', host: 'console', path: `/link-jobs/${id}/cancel`, before: null };
    return this.log.record(
      session,
      change,
      async () => {
        const results = await mapConcurrently(rows, ({ link_id: linkId }) =>
          perkway.gift.cancelRewardLink({ linkId }).then(
            ({ cancelled_at }) => (cancelled_at ? 'cancelled' : 'expired'),
            (error: unknown) => {
              if (error instanceof PerkwayError && error.code === 'LINK_ALREADY_REVEALED') return 'opened';
              throw unavailable('The gift-card service', error);
            },
          ),
        );
        const count = (wanted: string) => results.filter((result) => result === wanted).length;
        return {
          cancelled: count('cancelled'),
          opened: count('opened'),
          next: rows.length === CANCELLED_PER_CALL ? rows.at(-1)!.row : null,
        };
      },
      ({ cancelled, opened }) => ({ status: 200, after: { cancelled, opened } }),
    );
  }

  /**
   * Waits until the lease of a stopped job has ended. Normally, its running batch has then stored its links.
   * @throws DEPENDENCY_UNAVAILABLE after 5 seconds; the lease of a dead replica ends within a minute
   */
  private async waitForBatch(id: string): Promise<void> {
    for (let look = 0; look < BATCH_POLLS; look += 1) {
      const [{ runs }] = await this.dataSource.query<[{ runs: boolean }]>(
        'select leased_until > now() as runs from link_jobs where id = $1',
        [id],
      );
      if (!runs) return;
      await sleep(BATCH_POLL_MS);
    }
    throw unavailable('The batch of the link job');
  }

  /**
   * Streams the links of a job as CSV. They are secrets and not stored here: the gift-card service returns each again by
   * its idempotency key. Fails before the first line if that service is unavailable.
   * @throws JOB_NOT_FOUND
   */
  async csv(session: Session, id: string): Promise<Readable> {
    const { request, created_by } = await this.find(session, id);
    const perkway = this.clients.withKey(session.key, { tries: CSV_ATTEMPTS });
    const expiry = new Date(request.expires_at * 1000).toISOString();
    return this.streamCsv(id, ['reference', 'link', 'expiry', 'state'], async (row) => {
      const [made, { state }] = await Promise.all([
        makeLink(perkway, created_by, id, request, row),
        readOutcome(perkway, row),
      ]);
      if ('refused' in made)
        throw new ApiError(
          'DEPENDENCY_UNAVAILABLE',
          `The gift-card service rejected a link: ${made.refused}`,
        );
      return [row.reference, made.link, expiry, state];
    });
  }

  /**
   * Streams what became of the links of a job as CSV, without the links. Fails like `csv`.
   * @throws JOB_NOT_FOUND
   */
  async results(session: Session, id: string): Promise<Readable> {
    await this.find(session, id);
    const perkway = this.clients.withKey(session.key, { tries: CSV_ATTEMPTS });
    return this.streamCsv(id, ['reference', 'state', 'opened_at', 'cancelled_at'], async (row) => {
      const { state, revealed_at, cancelled_at } = await readOutcome(perkway, row);
      return [row.reference, state, revealed_at, cancelled_at];
    });
  }

  private async streamCsv(
    id: string,
    columns: string[],
    cellsOf: (row: MadeRow) => Promise<(string | null)[]>,
  ): Promise<Readable> {
    const lines = this.csvLines(id, columns, cellsOf);
    const head = await lines.next();
    return Readable.from(
      (async function* () {
        if (!head.done) yield head.value;
        yield* lines;
      })(),
    );
  }

  private async *csvLines(
    id: string,
    columns: string[],
    cellsOf: (row: MadeRow) => Promise<(string | null)[]>,
  ): AsyncGenerator<string> {
    let text = `${columns.join(',')}\r\n`;
    for (let after = 0; ;) {
      const rows = await this.dataSource.query<MadeRow[]>(
        `select row, reference, link_id from link_job_rows where job_id = $1 and link_id is not null and row > $2
         order by row limit ${CSV_ROWS}`,
        [id, after],
      );
      for (const cells of await mapConcurrently(rows, cellsOf))
        text += `${cells.map((cell) => csvCell(cell ?? '')).join(',')}\r\n`;
      yield text;
      text = '';
      if (rows.length < CSV_ROWS) return;
      after = rows.at(-1)!.row;
    }
  }

  /** @throws JOB_NOT_FOUND */
  async find({ account }: Session, id: string): Promise<LinkJobRow> {
    const rows = isUuid(id)
      ? await this.dataSource.query<LinkJobRow[]>(
          `select ${COLUMNS} from link_jobs j where id = $1 and account_id = $2`,
          [id, account],
        )
      : [];
    if (!rows[0]) throw new ApiError('JOB_NOT_FOUND');
    return rows[0];
  }

  private async findByKey({ account }: Session, key: string): Promise<Repeated | undefined> {
    const [row] = await this.dataSource.query<Repeated[]>(
      `select id, state, request_digest as digest from link_jobs where account_id = $1 and idempotency_key = $2`,
      [account, key],
    );
    return row;
  }

  /** Rejects an unknown pool at once, instead of a job that fails later. */
  private async requirePool(session: Session, poolId: string): Promise<void> {
    try {
      await responseOf('gift', this.clients.of(session).gift.getGiftCardPool({ poolId }));
    } catch (error) {
      if (error instanceof ApiError && error.code === 'NOT_FOUND') throw new ApiError('POOL_NOT_FOUND');
      throw error;
    }
  }

  /**
   * Opens a key for a job. The key may outlive the session, but ends with the API key or person that signed in.
   */
  async openKey(session: Session): Promise<JobKey> {
    const secret = randomUUID();
    const { keyringId } = this.keys;
    const { id, reply } = await this.keys.open(
      { purpose: 'job', secret, keyringId },
      { keyId: session.consoleKeyId },
      new Date(this.clock.now() + KEY_MS),
    );
    if (reply.error) throw new ApiError('SESSION_ENDED');
    return { id, secret, keyringId, maker: reply.keyMaker, approvals: reply.approvals };
  }

  private toDto(session: Session, row: LinkJobRow): LinkJobDto {
    const { id, name, state, total, made, failed, request, created_at, created_by, lapses_at } = row;
    return {
      id,
      name,
      state,
      total,
      made,
      failed: failed ?? [],
      code: state === 'failed' ? row.refused : null,
      pool_id: request.pool_id,
      campaign_id: request.campaign_id,
      references_are_journey_ids: request.references_are_journey_ids ?? false,
      attributes: request.attributes ?? {},
      denomination: request.denomination,
      currency: request.currency,
      expires_at: request.expires_at,
      created_at: created_at.toISOString(),
      created_by: created_by.replace(/^console: /, ''),
      approval: lapses_at && {
        lapses_at: lapses_at.toISOString(),
        may_decide:
          session.viewedBy === null &&
          state === 'awaiting_approval' &&
          lapses_at.getTime() > this.clock.now() &&
          !refusedDecision(session, row),
        decided_by: row.decided_by,
        decided_at: row.decided_at && row.decided_at.toISOString(),
        comment: row.decision_comment,
      },
    };
  }
}

type MadeRow = JobRow & { link_id: string };

/** Reads what became of a link, in the words of the console. */
async function readOutcome(perkway: Perkway, { link_id: linkId }: MadeRow) {
  const link = await responseOf('gift', perkway.gift.getIssuedRewardLink({ linkId }));
  return { ...link, state: link.cancelled_at ? 'cancelled' : STATES[link.state] };
}

export interface JobKey {
  id: string;
  secret: string;
  keyringId: string;
  /** The person who made the API key of the session, if there is one. */
  maker: string | null;
  approvals: Approvals | null;
}

interface Repeated extends CreatedLinkJobDto {
  digest: string;
}

function repeated({ id, state, digest }: Repeated, sent: string): CreatedLinkJobDto {
  // An erasure cleared the digest.
  if (digest !== '' && digest !== sent) throw new ApiError('IDEMPOTENCY_KEY_CONFLICT');
  return { id, state };
}

export const summaryOf = ({ state, total, made }: Pick<LinkJobDto, 'state' | 'total' | 'made'>) => ({
  state,
  total,
  made,
});
