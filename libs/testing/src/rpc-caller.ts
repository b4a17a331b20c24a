import { BROKER_OPERATOR } from '@perkway/domain';
import { createLogger, loadEnv, NatsService, platformEnv, RpcClient } from '@perkway/platform';

export interface RpcCaller {
  rpc: RpcClient;
  close(): Promise<void>;
}

/** Makes an RPC client that connects as the operator, because an app may not call its own RPC contracts. */
export async function rpcCaller(natsUrl: string): Promise<RpcCaller> {
  const nats = new NatsService(
    loadEnv(platformEnv, { PORT: '1', NATS_URL: natsUrl }),
    BROKER_OPERATOR,
    createLogger('rpc-caller', 'silent'),
  );
  nats.onModuleInit();
  await nats.connected();
  const rpc = new RpcClient(nats, BROKER_OPERATOR);
  return { rpc, close: () => nats.onApplicationShutdown() };
}
