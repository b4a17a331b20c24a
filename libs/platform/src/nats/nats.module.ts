import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { PlatformEnv } from '../config/load-env.js';
import { NATS_OPTIONS, NatsService, type NatsOptions } from './nats.service.js';
import { RpcClient } from './rpc-client.js';

@Global()
@Module({})
export class NatsModule {
  static register(env: PlatformEnv, app: string): DynamicModule {
    const options: NatsOptions = { url: env.NATS_URL, app };
    return {
      module: NatsModule,
      providers: [{ provide: NATS_OPTIONS, useValue: options }, NatsService, RpcClient],
      exports: [NatsService, RpcClient],
    };
  }
}
