export * from './answer.js';
export * from './fake-accounts.js';
export * from './launch-app.js';
export * from './tcp-proxy.js';
export * from './test-database.js';
export * from './test-environment.js';
export * from './test-nats.js';
export * from './tracking-stream.js';
export { runFolder } from './test-servers.js';
