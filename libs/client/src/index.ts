export { createPerkway, type Perkway, type PerkwayHosts, type PerkwayOptions } from './create-perkway.js';
export type { EventList, EventListInput } from './event-list.js';
export { OPERATIONS } from './operations.js';
export { PerkwayError, type FieldProblem, type PerkwayErrorCode } from './perkway-error.js';
export type { CallOptions } from './send.js';
export type { AnswerOf, Call, HostClient, HostName, InputOf, Paged, WithResponse } from './types.js';
export {
  verifyWebhook,
  WebhookVerificationError,
  type EventData,
  type WebhookEvent,
  type WebhookHeaders,
} from './verify-webhook.js';
export type { Documents } from '@perkway/client/documents';
