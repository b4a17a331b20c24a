import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { FleetHealthDto } from './fleet-health.dto.js';
import { FleetHealthService } from './fleet-health.service.js';

@ApiTags('Health')
@Roles('ADMIN')
@Controller('api/health')
export class FleetHealthController {
  constructor(private readonly health: FleetHealthService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Check the health of the fleet' })
  @ApiResponse({ status: 200, description: 'The current state', type: FleetHealthDto })
  getHealth(): Promise<FleetHealthDto> {
    return this.health.check();
  }
}
