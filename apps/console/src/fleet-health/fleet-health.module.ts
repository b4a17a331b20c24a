import { Module } from '@nestjs/common';
import { HealthModule } from '@perkway/platform';
import { FleetHealthController } from './fleet-health.controller.js';
import { FleetHealthService } from './fleet-health.service.js';

@Module({
  imports: [HealthModule],
  controllers: [FleetHealthController],
  providers: [FleetHealthService],
})
export class FleetHealthModule {}
