import { Module } from '@nestjs/common';
import { FleetHealthController } from './fleet-health.controller.js';
import { FleetHealthService } from './fleet-health.service.js';

@Module({ controllers: [FleetHealthController], providers: [FleetHealthService] })
export class FleetHealthModule {}
