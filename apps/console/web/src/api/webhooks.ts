import { useQuery } from '@tanstack/react-query';
import { sendRequest, all, type HttpResponse } from './http';
import type { Webhook } from './types';

const WEBHOOKS = '/api/events/webhooks';
/** The start of the query keys of all reads of webhooks. */
export const WEBHOOKS_KEY = ['webhooks'];

export const pathOf = (webhookId: string) => `${WEBHOOKS}/${encodeURIComponent(webhookId)}`;
export const deliveryPathOf = (webhookId: string, eventId: string) =>
  `${pathOf(webhookId)}/deliveries/${encodeURIComponent(eventId)}`;

export const useWebhooks = () =>
  useQuery({ queryKey: [...WEBHOOKS_KEY, 'all'], queryFn: () => all<Webhook>(WEBHOOKS) });

/** Reads a webhook with its ETag. */
export const useWebhook = (id: string) =>
  useQuery<HttpResponse<Webhook>>({
    queryKey: [...WEBHOOKS_KEY, 'one', id],
    queryFn: ({ signal }) => sendRequest<Webhook>(pathOf(id), { signal }),
  });

/** Changes some settings of a webhook, unless another person has changed it meanwhile. */
export const changeWebhook = (
  { body, etag }: HttpResponse<Webhook>,
  changes: Partial<Pick<Webhook, 'url' | 'types' | 'ordered' | 'enabled' | 'description'>>,
) => {
  const { url, types, ordered, enabled, description } = body;
  return sendRequest<Webhook>(pathOf(body.id), {
    method: 'PUT',
    body: { url, types, ordered, enabled, description, ...changes },
    headers: etag ? { 'if-match': etag } : {},
  });
};
