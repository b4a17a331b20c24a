import { Global, Module } from '@nestjs/common';
import { AnalyticsTokens } from './analytics-tokens.js';
import { FleetAddresses } from './fleet-addresses.js';
import { FleetCalls } from './fleet-calls.js';

@Global()
@Module({
  providers: [FleetAddresses, FleetCalls, AnalyticsTokens],
  exports: [FleetAddresses, FleetCalls, AnalyticsTokens],
})
export class FleetModule {}
