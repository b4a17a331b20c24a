import { Module } from '@nestjs/common';
import { AccountModels } from './account-models.js';
import { Coverages } from './coverages.js';
import { Reader } from './reader.js';

@Module({ providers: [AccountModels, Coverages, Reader], exports: [AccountModels, Coverages, Reader] })
export class ReaderModule {}
