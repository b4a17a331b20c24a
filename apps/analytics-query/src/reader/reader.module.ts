import { Module } from '@nestjs/common';
import { HealthModule } from '@perkway/platform';
import { AccountModels } from './account-models.js';
import { Coverages } from './coverages.js';
import { Reader } from './reader.js';

@Module({
  imports: [HealthModule],
  providers: [AccountModels, Coverages, Reader],
  exports: [AccountModels, Coverages, Reader],
})
export class ReaderModule {}
