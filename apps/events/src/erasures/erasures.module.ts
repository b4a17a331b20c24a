import { Module } from '@nestjs/common';
import { FeedModule } from '../feed/feed.module.js';
import { ErasuresController } from './erasures.controller.js';
import { FeedEraser } from './feed-eraser.js';

@Module({ imports: [FeedModule], controllers: [ErasuresController], providers: [FeedEraser] })
export class ErasuresModule {}
