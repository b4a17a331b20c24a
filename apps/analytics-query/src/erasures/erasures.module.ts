import { Module } from '@nestjs/common';
import { ErasedJourneys } from './erased-journeys.js';
import { ErasuresController } from './erasures.controller.js';
import { ErasuresService } from './erasures.service.js';
import { EventEraser } from './event-eraser.js';
import { StreamEraser } from './stream-eraser.js';

/** Erases people's data from stored events and streams; part of the role `ingest`. */
@Module({
  controllers: [ErasuresController],
  providers: [ErasedJourneys, EventEraser, StreamEraser, ErasuresService],
  exports: [ErasedJourneys, StreamEraser],
})
export class ErasuresModule {}
