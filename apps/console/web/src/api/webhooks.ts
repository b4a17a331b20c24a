import { useQuery } from '@tanstack/react-query';
import { allOf, perkway, responseOf, storedOf, type Stored } from './perkway';
import type { PutWebhook, Webhook } from './types';

/** The start of the query keys of all reads of webhooks. */
export const WEBHOOKS_KEY = ['webhooks'];

export const pathOfWebhook = (id: string) => `/integration/webhooks/${encodeURIComponent(id)}`;

export const useWebhooks = () =>
  useQuery({
    queryKey: [...WEBHOOKS_KEY, 'all'],
    queryFn: () => allOf(perkway.events.listWebhooks({ limit: 200 })),
  });

/** Reads a webhook with its ETag. */
export const useWebhook = (webhookId: string) =>
  useQuery({
    queryKey: [...WEBHOOKS_KEY, 'one', webhookId],
    queryFn: ({ signal }) => storedOf(perkway.events.getWebhook({ webhookId }, { signal })),
  });

/** Changes some settings of a webhook, unless another person has changed it meanwhile. */
export const changeWebhook = ({ body, etag }: Stored<Webhook>, changes: Partial<PutWebhook>) => {
  const { id: webhookId, url, types, ordered, enabled, description } = body;
  const put = { url, types, ordered, enabled, description, ...changes };
  return responseOf(perkway.events.putWebhook({ ...put, webhookId, ifMatch: etag ?? undefined }));
};

export const retryDelivery = (webhookId: string, eventId: string) =>
  responseOf(perkway.events.retryWebhookDelivery({ webhookId, eventId }));
