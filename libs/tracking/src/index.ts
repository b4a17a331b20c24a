export * from './create-tracking-outbox.migration.js';
export * from './event-id.js';
export * from './tracked-parameters.js';
export * from './tracking.module.js';
export * from './tracking.service.js';
export * from './traffic/classify-traffic.js';
