export { freePort, isPortFree } from './free-port.js';
export { LocalServer } from './local-server.js';
export { findNatsServer } from './nats-binary.js';
export { readNatsInfo, startNats, type NatsOptions } from './nats-server.js';
export { startPostgres, type PostgresOptions } from './postgres-server.js';
export * from './provision-database.js';
export * from './secrets.js';
export { commandLineOf, isAlive, ServerProcess, type Exit, type LaunchOptions } from './server-process.js';
