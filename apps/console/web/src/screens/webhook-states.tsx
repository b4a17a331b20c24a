import type { ReactNode } from 'react';
import type { WebhookState } from '../api/types';
import { pathOfWebhook } from '../api/webhooks';
import { formatMoment, formatNumber } from '../format';
import { Table } from '../parts/table';
import { ViewAsClient } from '../parts/view-as-client';
import { texts } from '../texts';

const t = texts.operatorsHome;

function stateOf({ enabled, failing_since, disabled_at }: WebhookState): string {
  if (disabled_at) return t.disabled(formatMoment(disabled_at));
  if (!enabled) return t.switchedOff;
  return failing_since ? t.since(formatMoment(failing_since)) : t.working;
}

interface Props {
  caption: string;
  webhooks: WebhookState[];
  /** Below the id. */
  about: (webhook: WebhookState) => ReactNode;
}

/** Says which webhooks work. Their owners manage them; operators see their deliveries as the client does. */
export const WebhookStates = ({ caption, webhooks, about }: Props) => (
  <Table
    caption={caption}
    rows={webhooks}
    keyOf={({ account_id, id }) => `${account_id}/${id}`}
    columns={[
      {
        name: t.webhook,
        isHead: true,
        cell: (webhook) => (
          <>
            {webhook.id}
            <br />
            {about(webhook)}
          </>
        ),
      },
      {
        name: t.state,
        cell: (webhook) => (
          <>
            {stateOf(webhook)}
            {webhook.reason && <span className="hint"> {webhook.reason}</span>}
          </>
        ),
      },
      { name: t.pending, isNumber: true, cell: ({ pending }) => formatNumber(pending) },
      {
        name: t.view,
        cell: ({ account_id, id }) => (
          <ViewAsClient id={account_id} name={`${account_id}, ${id}`} to={pathOfWebhook(id)} />
        ),
      },
    ]}
  />
);
