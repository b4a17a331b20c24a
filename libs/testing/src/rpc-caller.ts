import { BROKER_OPERATOR, type RpcContract } from '@perkway/domain';
import { createLogger, loadEnv, NatsService, platformEnv, RpcClient } from '@perkway/platform';

const TIMEOUT_MS = 10_000;

/** Waits longer than an app: on an overloaded machine, the largest replies take more than a second. */
class TestRpcClient extends RpcClient {
  override request<Request extends object, Reply extends object>(
    contract: RpcContract<Request, Reply>,
    request: NoInfer<Request>,
    timeoutMs = TIMEOUT_MS,
  ): Promise<Reply> {
    return super.request(contract, request, timeoutMs);
  }
}

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
  const rpc = new TestRpcClient(nats, BROKER_OPERATOR);
  return { rpc, close: () => nats.onApplicationShutdown() };
}
