import { Module, type DynamicModule } from '@nestjs/common';
import type { Keyring } from '@perkway/signing';
import { OffersService } from '../offers/offers.service.js';
import { ClicksController } from './clicks.controller.js';
import { ClicksService, LINK_KEYRING } from './clicks.service.js';

@Module({})
export class ClicksModule {
  static register(keyring: Keyring): DynamicModule {
    return {
      module: ClicksModule,
      controllers: [ClicksController],
      providers: [{ provide: LINK_KEYRING, useValue: keyring }, OffersService, ClicksService],
    };
  }
}
