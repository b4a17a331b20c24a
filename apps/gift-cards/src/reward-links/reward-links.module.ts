import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { GiftCardsEnv } from '../env.js';
import { Brands } from './brands.js';
import { ExpiredLinks } from './expired-links.js';
import { RecipientsController } from './recipients.controller.js';
import { RecipientsService } from './recipients.service.js';
import { RequestFormGuard } from './request-form.guard.js';
import { Reservations } from './reservations.js';
import { RewardLinksController } from './reward-links.controller.js';
import { REWARD_LINK_OPTIONS, RewardLinksService } from './reward-links.service.js';

@Module({})
export class RewardLinksModule {
  static register(env: GiftCardsEnv): DynamicModule {
    return {
      module: RewardLinksModule,
      controllers: [RewardLinksController, RecipientsController],
      providers: [
        { provide: REWARD_LINK_OPTIONS, useValue: env },
        { provide: APP_GUARD, useClass: RequestFormGuard },
        Brands,
        ExpiredLinks,
        RecipientsService,
        Reservations,
        RewardLinksService,
      ],
    };
  }
}
