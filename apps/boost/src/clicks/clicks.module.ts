import { Module } from '@nestjs/common';
import { PerkDirectoryModule } from '@perkway/directory';
import { ClicksService } from './clicks.service.js';

/** What a click does, whichever way it came. */
@Module({ imports: [PerkDirectoryModule], providers: [ClicksService], exports: [ClicksService] })
export class ClicksModule {}
