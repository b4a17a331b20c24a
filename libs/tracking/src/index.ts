export * from './migrations/1767225600000-create-tracking-outbox.js';
export * from './event-id.js';
export * from './prepared-event.js';
export * from './tracked-parameters.js';
export * from './tracking.module.js';
export * from './tracking.service.js';
export * from './traffic/classify-traffic.js';
