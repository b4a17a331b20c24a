import { Module } from '@nestjs/common';
import { ProxyController } from './proxy.controller.js';
import { ProxyService } from './proxy.service.js';

@Module({ controllers: [ProxyController], providers: [ProxyService] })
export class ProxyModule {}
