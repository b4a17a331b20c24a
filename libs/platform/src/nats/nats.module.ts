import { Global, Module } from '@nestjs/common';
import { ReplicaCounts } from '../http/replica-counts.js';
import { NatsService } from './nats.service.js';
import { RpcClient } from './rpc-client.js';

@Global()
@Module({
  providers: [NatsService, RpcClient, ReplicaCounts],
  exports: [NatsService, RpcClient, ReplicaCounts],
})
export class NatsModule {}
