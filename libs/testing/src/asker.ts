import { BROKER_OPERATOR } from '@perkway/domain';
import { createLogger, loadEnv, NatsService, platformEnv, RpcClient } from '@perkway/platform';

export interface Asker {
  rpc: RpcClient;
  close(): Promise<void>;
}

/** Asks the apps over a real broker, in place of the app that may: the owner of a question may not ask it. */
export async function asker(natsUrl: string): Promise<Asker> {
  const nats = new NatsService(
    loadEnv(platformEnv, { PORT: '1', NATS_URL: natsUrl }),
    BROKER_OPERATOR,
    createLogger('asker', 'silent'),
  );
  nats.onModuleInit();
  await nats.connected();
  const rpc = new RpcClient(nats, BROKER_OPERATOR);
  return { rpc, close: () => nats.onApplicationShutdown() };
}
