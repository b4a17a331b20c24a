import { Module } from '@nestjs/common';
import { PerkDirectoryModule } from '@perkway/directory';
import { ClicksService } from './clicks.service.js';

/** Handles clicks of both channels, outreach and journey. */
@Module({ imports: [PerkDirectoryModule], providers: [ClicksService], exports: [ClicksService] })
export class ClicksModule {}
