import { Global, Module } from '@nestjs/common';
import { NatsService } from './nats.service.js';
import { RpcClient } from './rpc-client.js';

@Global()
@Module({ providers: [NatsService, RpcClient], exports: [NatsService, RpcClient] })
export class NatsModule {}
