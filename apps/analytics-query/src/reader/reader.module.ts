import { Module } from '@nestjs/common';
import { HealthModule } from '@perkway/platform';
import { AccountModels } from './account-models.js';
import { RollupWatermarks } from './rollup-watermarks.js';
import { Reader } from './reader.js';

@Module({
  imports: [HealthModule],
  providers: [AccountModels, RollupWatermarks, Reader],
  exports: [AccountModels, RollupWatermarks, Reader],
})
export class ReaderModule {}
