import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccountDirectoryModule } from '@perkway/directory';
import { CardsModule } from '../cards/cards.module.js';
import { AdminLinksController } from './admin-links.controller.js';
import { ExpiredLinks } from './expired-links.js';
import { IssuedLinksController } from './issued-links.controller.js';
import { IssuedLinksService } from './issued-links.service.js';
import { LinkStatesController } from './link-states.controller.js';
import { RecipientsController } from './recipients.controller.js';
import { RecipientsService } from './recipients.service.js';
import { RequestParametersGuard } from './request-parameters.guard.js';
import { Reservations } from './reservations.js';
import { RewardLinksController } from './reward-links.controller.js';
import { RewardLinksService } from './reward-links.service.js';

@Module({
  imports: [AccountDirectoryModule, CardsModule],
  controllers: [
    RewardLinksController,
    IssuedLinksController,
    AdminLinksController,
    LinkStatesController,
    RecipientsController,
  ],
  providers: [
    { provide: APP_GUARD, useClass: RequestParametersGuard },
    ExpiredLinks,
    IssuedLinksService,
    RecipientsService,
    Reservations,
    RewardLinksService,
  ],
})
export class RewardLinksModule {}
