/** The alerts that the console names. A section of docs/operations.md explains each. */
export const ALERTS = [
  'AppDown',
  'BrokerAway',
  'DeliveriesLate',
  'ErasureStuck',
  'EventsAtRisk',
  'EventsDead',
  'FeedBehind',
  'IngestBehind',
  'OutboxStuck',
] as const;
export type Alert = (typeof ALERTS)[number];
