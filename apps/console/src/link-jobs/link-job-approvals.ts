import { Injectable } from '@nestjs/common';
import { ApiError } from '@perkway/domain';
import { Clock, Loops } from '@perkway/platform';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { FleetClients } from '../fleet/fleet-clients.js';
import { ConsoleKeys } from '../sessions/console-keys.js';
import { nameOf, type Session } from '../sessions/session.js';
import { requireRoom } from './job-limits.js';
import type { LinkJobDto } from './link-job.dto.js';
import { LinkJobRunner } from './link-job-runner.js';
import { LinkJobsService, refusedDecision, summaryOf, type LinkJobRow } from './link-jobs.service.js';

/** Interval between checks for jobs whose approval has lapsed. */
const LAPSE_MS = 10_000;

/** Decides only while the job waits, so that only the first of several decisions counts. */
const DECIDE = `
  update link_jobs set state = $3, decided_by = $4, decided_at = $5, decision_comment = $6, leased_until = now(),
    key_secret = coalesce($7, key_secret), keyring_id = coalesce($8, keyring_id),
    console_key_id = coalesce($9, console_key_id)
  where id = $1 and account_id = $2 and state = 'awaiting_approval' and lapses_at > $5 returning id`;
const LAPSE = `
  update link_jobs set state = 'lapsed' where id in (
    select id from link_jobs where state = 'awaiting_approval' and lapses_at <= $1
    limit 100 for update skip locked
  ) returning id, account_id`;

interface Decision {
  state: 'running' | 'rejected';
  comment: string;
  /** The key that makes the links. */
  key?: { id: string; secret: string; keyringId: string };
}

/** Approves, rejects and ends link jobs that wait for an approval. Refused decisions are in the audit log, too. */
@Injectable()
export class LinkJobApprovals {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: LinkJobsService,
    private readonly runner: LinkJobRunner,
    private readonly keys: ConsoleKeys,
    private readonly clients: FleetClients,
    private readonly log: AuditLog,
    private readonly clock: Clock,
    loops: Loops,
  ) {
    const task = 'end link jobs whose approval has lapsed';
    loops.add({ task, everyMs: LAPSE_MS, run: () => this.lapse() });
  }

  /**
   * Starts the job with a key of the person who approves it.
   * @throws JOB_NOT_FOUND, APPROVAL_BY_KEY, APPROVAL_OWN_JOB, NOT_AWAITING_APPROVAL, APPROVAL_LAPSED, LIMIT_REACHED
   */
  async approve(session: Session, id: string, comment: string): Promise<LinkJobDto> {
    const job = await this.record(session, id, 'approve', comment, async (waiting) => {
      const key = await this.jobs.openKey(session);
      try {
        await requireRoom(this.dataSource, this.clients.of(session), waiting);
        await this.decide(session, id, { state: 'running', comment, key });
      } catch (error) {
        await this.keys.close([key.id]);
        throw error;
      }
    });
    this.runner.wake();
    return job;
  }

  /** @throws JOB_NOT_FOUND, APPROVAL_BY_KEY, APPROVAL_OWN_JOB, NOT_AWAITING_APPROVAL, APPROVAL_LAPSED */
  reject(session: Session, id: string, comment: string): Promise<LinkJobDto> {
    return this.record(session, id, 'reject', comment, () =>
      this.decide(session, id, { state: 'rejected', comment }),
    );
  }

  /** Ends jobs that nobody decided on in time. */
  async lapse(): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const [lapsed] = await manager.query<[{ id: string; account_id: string }[], number]>(LAPSE, [
        new Date(this.clock.now()),
      ]);
      for (const { id, account_id: account } of lapsed) {
        const change = { action: 'POST', host: 'console', path: `/link-jobs/${id}/lapse` };
        const before = { state: 'awaiting_approval' };
        await this.log.recordOwn(manager, account, { ...change, before }, { state: 'lapsed' });
      }
    });
  }

  private async record(
    session: Session,
    id: string,
    verb: 'approve' | 'reject',
    comment: string,
    decide: (job: LinkJobRow) => Promise<void>,
  ): Promise<LinkJobDto> {
    const before = await this.jobs.find(session, id);
    const outcome = await this.log.record(
      session,
      { action: 'POST', host: 'console', path: `/link-jobs/${id}/${verb}`, before: summaryOf(before) },
      async () => {
        try {
          this.requireDecidable(session, before);
          await decide(before);
          return await this.jobs.get(session, id);
        } catch (error) {
          if (error instanceof ApiError) return error;
          throw error;
        }
      },
      (made) =>
        made instanceof ApiError
          ? { status: made.status, after: { refused: made.code, comment } }
          : { status: 200, after: { ...summaryOf(made), comment } },
    );
    if (outcome instanceof ApiError) throw outcome;
    return outcome;
  }

  private requireDecidable(session: Session, job: LinkJobRow): void {
    const refused = refusedDecision(session, job);
    if (refused) throw new ApiError(refused);
    const { state, lapses_at } = job;
    if (state === 'lapsed' || (state === 'awaiting_approval' && lapses_at!.getTime() <= this.clock.now()))
      throw new ApiError('APPROVAL_LAPSED');
    if (state !== 'awaiting_approval') throw new ApiError('NOT_AWAITING_APPROVAL');
  }

  private async decide(session: Session, id: string, { state, comment, key }: Decision): Promise<void> {
    const [decided] = await this.dataSource.query<[unknown[], number]>(DECIDE, [
      id,
      session.account,
      state,
      nameOf(session),
      new Date(this.clock.now()),
      comment,
      key?.secret ?? null,
      key?.keyringId ?? null,
      key?.id ?? null,
    ]);
    // Another person has decided already, or the approval has lapsed.
    if (decided.length === 0) {
      this.requireDecidable(session, await this.jobs.find(session, id));
      throw new ApiError('NOT_AWAITING_APPROVAL');
    }
  }
}
