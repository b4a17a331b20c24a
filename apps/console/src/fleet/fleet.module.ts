import { Global, Module } from '@nestjs/common';
import { FleetAddresses } from './fleet-addresses.js';
import { FleetClients } from './fleet-clients.js';

@Global()
@Module({ providers: [FleetAddresses, FleetClients], exports: [FleetAddresses, FleetClients] })
export class FleetModule {}
