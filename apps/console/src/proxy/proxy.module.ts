import { Module } from '@nestjs/common';
import { FleetCalls } from './fleet-calls.js';
import { ProxyController } from './proxy.controller.js';
import { ProxyService } from './proxy.service.js';

@Module({ controllers: [ProxyController], providers: [ProxyService, FleetCalls] })
export class ProxyModule {}
