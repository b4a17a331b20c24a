import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { get } from '../api/http';
import { CAMPAIGNS, COLLECTIONS, LIMITS, POOLS, type Kind } from '../api/managed';
import type { WebhookState } from '../api/types';
import { Loaded } from '../parts/loaded';
import { ResourceLinks } from '../parts/resource-links';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { WebhookStates } from './webhook-states';

const t = texts.accounts;
const KINDS: Kind[] = [COLLECTIONS, CAMPAIGNS, POOLS, LIMITS];
const SHOWN = 5;

/** What an account owns, with links that lead there, and whether its webhooks work. */
export function Holdings({ accountId }: { accountId: string }) {
  const webhooks = useQuery({
    queryKey: ['webhooks-of-account', accountId],
    queryFn: ({ signal }) =>
      get<WebhookState[]>(`/api/accounts/${encodeURIComponent(accountId)}/webhooks`, undefined, signal),
  });
  return (
    <>
      <Card title={t.holdings}>
        <Table
          caption={t.holdings}
          rows={KINDS}
          keyOf={({ name }) => name}
          columns={[
            {
              name: t.kind,
              isHead: true,
              cell: ({ label, listPath }) => (
                <Link to={`${listPath}?owner=${encodeURIComponent(accountId)}`}>{label}</Link>
              ),
            },
            {
              name: t.first,
              cell: (kind) => <ResourceLinks kind={kind} query={{ owner: accountId, limit: SHOWN }} />,
            },
            {
              name: texts.rewardLinks.action,
              cell: ({ label, path }) => (
                <Link
                  className="button small"
                  aria-label={t.newOf(label)}
                  to={`${path}/new?owner=${encodeURIComponent(accountId)}`}
                >
                  {t.new}
                </Link>
              ),
            },
          ]}
        />
      </Card>
      <Card title={texts.webhooks.webhooks} note={t.webhooksNote}>
        <Loaded
          query={webhooks}
          lines={1}
          isEmpty={(list) => list.length === 0}
          empty={<p>{t.noWebhooks}</p>}
        >
          {(list) => (
            <WebhookStates
              caption={texts.webhooks.webhooks}
              webhooks={list}
              about={({ origin }) => <span className="hint">{origin}</span>}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}
