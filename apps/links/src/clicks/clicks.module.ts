import { Module } from '@nestjs/common';
import { PerkDirectoryModule } from '@perkway/directory';
import { ClicksController } from './clicks.controller.js';
import { ClicksService } from './clicks.service.js';

@Module({ imports: [PerkDirectoryModule], controllers: [ClicksController], providers: [ClicksService] })
export class ClicksModule {}
