import { Inject, Injectable } from '@nestjs/common';
import { ApiError, invalidField, isCallerId, isUuid } from '@perkway/domain';
import { ENV, exactTime, KeysetPaginator, Loops, type ListQuery, type Page } from '@perkway/platform';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.service.js';
import type { ConsoleEnv } from '../env.js';
import { nameOf, type Session } from '../sessions/session.js';
import { CampaignFigures } from './campaign-figures.js';
import type { CreatedReportDto, CreateReportDto, FrozenReportDto, ReportDto } from './report.dto.js';

const SWEEP_MS = 60 * 60_000;

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

interface Row extends Omit<ReportDto, 'as_of' | 'expires_at' | 'revoked_at'> {
  as_of: Date;
  expires_at: Date;
  revoked_at: Date | null;
  position: string;
}

const COLUMNS = `id, campaign_id, title, as_of, expires_at, revoked_at, created_by, ${exactTime('as_of')} as position`;

const toDto = ({ position: _, as_of, expires_at, revoked_at, ...row }: Row): ReportDto => ({
  ...row,
  as_of: as_of.toISOString(),
  expires_at: expires_at.toISOString(),
  revoked_at: revoked_at?.toISOString() ?? null,
});

/**
 * Freezes the figures of a campaign for people who are not signed in: anyone with the URL can read the report until it
 * expires or is revoked.
 */
@Injectable()
export class ReportsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly figures: CampaignFigures,
    private readonly log: AuditLog,
    private readonly pages: KeysetPaginator,
    @Inject(ENV) private readonly env: ConsoleEnv,
    loops: Loops,
  ) {
    loops.add({ task: 'delete the figures of expired reports', everyMs: SWEEP_MS, run: () => this.sweep() });
  }

  /** @throws VALIDATION_FAILED, CAMPAIGN_NOT_FOUND */
  async create(session: Session, body: CreateReportDto): Promise<CreatedReportDto> {
    const { campaignId, range, title } = body;
    // `.` and `..` would change the path of the call to Boost.
    if (!isCallerId(campaignId) || /^\.\.?$/.test(campaignId)) throw new ApiError('CAMPAIGN_NOT_FOUND');
    if (range.from > range.to) throw invalidField('range.to', 'must not be before range.from');
    const expiresAt = new Date(body.expiresAt);
    const asOf = new Date();
    if (!(expiresAt > asOf)) throw invalidField('expiresAt', 'must be in the future');
    const campaign = await this.figures.campaignOf(session, campaignId);
    const frozen: FrozenReportDto = {
      title,
      ...(body.comment && { comment: body.comment }),
      account_name: session.accountName,
      campaign_id: campaignId,
      campaign_name: campaign.name,
      range: { from: range.from, to: range.to },
      as_of: asOf.toISOString(),
      expires_at: expiresAt.toISOString(),
      ...(await this.figures.read(session, campaign, range)),
    };
    const id = randomUUID();
    const secret = randomBytes(32).toString('base64url');
    await this.log.record(
      session,
      { action: 'POST', host: 'console', path: `/reports/${id}`, before: null },
      () =>
        this.dataSource.query(
          `insert into reports (id, account_id, campaign_id, title, secret_hash, body, as_of, expires_at, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          [
            id,
            session.account,
            campaignId,
            title,
            hashOf(secret),
            JSON.stringify(frozen),
            asOf,
            expiresAt,
            nameOf(session),
          ],
        ),
      () => ({ status: 201, after: { title, campaign_id: campaignId, range, expires_at: expiresAt } }),
    );
    return { id, url: `${this.env.CONSOLE_URL}/report#${secret}` };
  }

  async list({ account }: Session, query: ListQuery): Promise<Page<ReportDto>> {
    const page = this.pages.request<[time: string, id: string]>({ name: 'reports' }, query, account);
    const rows = await this.dataSource.query<Row[]>(
      `select ${COLUMNS} from reports
       where account_id = $1 and ($2::timestamptz is null or (as_of, id) < ($2, $3::uuid))
       order by as_of desc, id desc limit $4`,
      [account, page.after?.[0] ?? null, page.after?.[1] ?? null, page.rows],
    );
    return page.respond(rows, ({ position, id }) => [position, id], toDto);
  }

  /** Revokes a report and deletes its figures. Idempotent. @throws REPORT_NOT_FOUND */
  async revoke(session: Session, id: string): Promise<void> {
    const [row] = isUuid(id)
      ? await this.dataSource.query<Row[]>(
          `select ${COLUMNS} from reports where id = $1 and account_id = $2`,
          [id, session.account],
        )
      : [];
    if (!row) throw new ApiError('REPORT_NOT_FOUND');
    if (row.revoked_at) return;
    const { title, campaign_id } = row;
    await this.log.record(
      session,
      { action: 'DELETE', host: 'console', path: `/reports/${id}`, before: { title, campaign_id } },
      () =>
        this.dataSource.query(
          'update reports set revoked_at = now(), body = null where id = $1 and revoked_at is null',
          [id],
        ),
      () => ({ status: 204, after: null }),
    );
  }

  /** Deletes the figures and comments of expired reports. */
  async sweep(): Promise<void> {
    await this.dataSource.query(
      'update reports set body = null where expires_at <= now() and body is not null',
    );
  }

  /** Returns the report with this secret. @throws REPORT_NOT_FOUND */
  async read(secret: string): Promise<FrozenReportDto> {
    const [row] = await this.dataSource.query<{ body: FrozenReportDto }[]>(
      'select body from reports where secret_hash = $1 and revoked_at is null and expires_at > now()',
      [hashOf(secret)],
    );
    if (!row) throw new ApiError('REPORT_NOT_FOUND');
    return row.body;
  }
}
