import { useState } from 'react';
import { Link } from 'react-router';
import type { Webhook } from '../api/types';
import { pathOfWebhook, useWebhooks } from '../api/webhooks';
import { formatMoment } from '../format';
import { Empty, Loaded } from '../parts/loaded';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { CreateWebhook } from './webhook-form';
import '../styles/webhooks.css';

const t = texts.webhooks;

export function Webhooks() {
  const webhooks = useWebhooks();
  const [isCreating, setCreating] = useState(false);
  return (
    <Card
      title={t.webhooks}
      note={
        <>
          {t.limitNote} <Link to="/documentation/webhooks">{t.howTo}</Link>
        </>
      }
      actions={
        <button type="button" className="button main" onClick={() => setCreating(true)}>
          {t.create}
        </button>
      }
    >
      <Loaded
        query={webhooks}
        isEmpty={(list) => list.length === 0}
        empty={
          <Empty title={t.emptyTitle}>
            <p>{t.emptyText}</p>
          </Empty>
        }
      >
        {(list) => (
          <Table
            caption={t.webhooks}
            rows={list}
            keyOf={({ id }) => id}
            columns={[
              {
                name: t.webhook,
                isHead: true,
                cell: ({ id, url, description }) => (
                  <>
                    <Link to={pathOfWebhook(id)}>{id}</Link>
                    {description && <span className="hint"> {description}</span>}
                    <br />
                    <code className="hint">{url}</code>
                  </>
                ),
              },
              {
                name: t.types,
                cell: ({ types }) =>
                  types === null ? (
                    t.allTypes
                  ) : types.length === 1 ? (
                    <code>{types[0]}</code>
                  ) : (
                    <span title={types.join(', ')}>{t.typeCount(types.length)}</span>
                  ),
              },
              { name: t.order, cell: ({ ordered }) => (ordered ? t.orderedShort : t.unordered) },
              { name: t.state, cell: (webhook) => <State webhook={webhook} /> },
            ]}
          />
        )}
      </Loaded>
      {isCreating && <CreateWebhook onClose={() => setCreating(false)} />}
    </Card>
  );
}

function State({ webhook: { enabled, failing_since, disabled_at } }: { webhook: Webhook }) {
  if (enabled && failing_since)
    return <span className="badge bad">{t.failing(formatMoment(failing_since))}</span>;
  if (enabled) return <span className="badge">{t.enabled}</span>;
  if (disabled_at) return <span className="badge bad">{t.disabledByUs}</span>;
  return <span className="badge plain">{t.disabled}</span>;
}
