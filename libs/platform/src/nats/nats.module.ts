import { Global, Module } from '@nestjs/common';
import { SharedCounts } from '../http/shared-counts.js';
import { NatsService } from './nats.service.js';
import { RpcClient } from './rpc-client.js';

@Global()
@Module({
  providers: [NatsService, RpcClient, SharedCounts],
  exports: [NatsService, RpcClient, SharedCounts],
})
export class NatsModule {}
