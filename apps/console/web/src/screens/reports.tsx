import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { useCampaigns } from '../api/campaigns';
import { all, sendRequest } from '../api/http';
import type { ReportSummary } from '../api/types';
import { daysAgo } from '../dates';
import { formatMoment } from '../format';
import { AuditLogLink } from '../parts/audit-log-link';
import { Confirm } from '../parts/dialog';
import { Empty, Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';
import FreezeReport from './freeze-report';

const t = texts.reports;

export default function Reports() {
  const client = useQueryClient();
  const { say } = useNotices();
  const [isFreezing, setFreezing] = useState(false);
  const [revoking, setRevoking] = useState<ReportSummary | null>(null);
  const reports = useQuery({
    queryKey: ['reports'],
    queryFn: () => all<ReportSummary>('/api/reports'),
  });
  const hasNoCampaign = useCampaigns().data?.length === 0;
  const stateOf = ({ revoked_at, expires_at }: ReportSummary) =>
    revoked_at ? t.revoked : new Date(expires_at) < new Date() ? t.expired : t.valid;
  return (
    <Screen
      title={texts.nav.reports}
      intro={t.intro}
      actions={
        <button
          type="button"
          className="button main"
          disabled={hasNoCampaign}
          onClick={() => setFreezing(true)}
        >
          {t.new}
        </button>
      }
    >
      <Card>
        <Loaded
          query={reports}
          isEmpty={(list) => list.length === 0}
          empty={
            <Empty title={t.emptyTitle}>
              <p>{hasNoCampaign ? t.noCampaignText : t.emptyText}</p>
              <Link to="/campaigns">{t.toCampaigns}</Link>
            </Empty>
          }
        >
          {(list) => (
            <Table
              caption={texts.nav.reports}
              rows={list}
              keyOf={({ id }) => id}
              columns={[
                { name: t.name, isHead: true, cell: ({ title }) => title },
                {
                  name: t.campaign,
                  cell: ({ campaign_id }) => (
                    <Link to={`/campaigns/${encodeURIComponent(campaign_id)}`}>{campaign_id}</Link>
                  ),
                },
                { name: t.made, cell: ({ as_of }) => formatMoment(as_of) },
                { name: t.expires, cell: ({ expires_at }) => formatMoment(expires_at) },
                {
                  name: t.state,
                  cell: (report) => (
                    <span className={`badge ${stateOf(report) === t.valid ? '' : 'plain'}`}>
                      {stateOf(report)}
                    </span>
                  ),
                },
                {
                  name: texts.rewardLinks.action,
                  cell: (report) => (
                    <span className="actions">
                      <AuditLogLink
                        className="button small"
                        aria-label={t.historyOf(report.title)}
                        kind="reports"
                        object={report.id}
                      >
                        {texts.auditLog.history}
                      </AuditLogLink>
                      {stateOf(report) === t.valid && (
                        <button
                          type="button"
                          className="button danger small"
                          aria-label={t.revokeOf(report.title)}
                          onClick={() => setRevoking(report)}
                        >
                          {t.revoke}
                        </button>
                      )}
                    </span>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {isFreezing && <FreezeReport range={[daysAgo(29), daysAgo(0)]} onClose={() => setFreezing(false)} />}
      <Confirm
        title={t.revokeTitle}
        text={t.revokeText(revoking?.title ?? '')}
        action={t.revoke}
        isOpen={revoking !== null}
        onClose={() => setRevoking(null)}
        onConfirm={async () => {
          await sendRequest(`/api/reports/${revoking!.id}`, { method: 'DELETE' });
          say(t.revokedNotice);
          await client.invalidateQueries({ queryKey: ['reports'] });
        }}
      />
    </Screen>
  );
}
