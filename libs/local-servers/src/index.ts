export { distributeOver, startCitus, type CitusOptions } from './citus-cluster.js';
export * from './distribute-events.js';
export { bundleApp } from './bundle-app.js';
export { takeBaseBackup, type BaseBackup } from './base-backup.js';
export { withBroker } from './with-broker.js';
export { freePort, freePorts, isPortFree } from './free-port.js';
export { LocalServer, type ServerSpec } from './local-server.js';
export { findNatsServer, findNatsServerForCluster } from './nats-binary.js';
export { startNatsCluster, type NatsCluster } from './nats-cluster.js';
export { prepareNats, readNatsInfo, startNats, type NatsOptions } from './nats-server.js';
export { natsUsers, natsUsersBy } from './nats-users.js';
export { tcpProxy, type TcpProxy } from './tcp-proxy.js';
export { PostgresPair, type PostgresPairOptions } from './postgres-pair.js';
export { preparePostgres, startPostgres, type PostgresOptions } from './postgres-server.js';
export { startPrimaryProxy, type PrimaryProxy } from './primary-proxy.js';
export * from './provision-database.js';
export {
  commandLineOf,
  isAlive,
  onPath,
  run,
  ServerProcess,
  type Exit,
  type LaunchOptions,
  type RunOptions,
} from './server-process.js';
export {
  promoteStandby,
  REPLICATING,
  setSynchronousStandbys,
  startStandby,
  type StandbyOptions,
} from './standby.js';
