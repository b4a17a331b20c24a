import { Module } from '@nestjs/common';
import { PerksModule } from '../perks/perks.module.js';
import { ClicksService } from './clicks.service.js';

/** What a click does, whichever way it came. */
@Module({ imports: [PerksModule], providers: [ClicksService], exports: [ClicksService] })
export class ClicksModule {}
