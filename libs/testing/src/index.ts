export * from './test-database.js';
export * from './test-environment.js';
export * from './test-nats.js';
export { runFolder } from './test-servers.js';
