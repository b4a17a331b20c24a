import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { ReaderModule } from '../reader/reader.module.js';
import { CubeApiController } from './cube-api.controller.js';
import { LoadService } from './load.service.js';

/** The HTTP API: the role `query`. */
@Module({
  imports: [AccessModule, ReaderModule],
  controllers: [CubeApiController],
  providers: [LoadService],
})
export class ApiModule {}
