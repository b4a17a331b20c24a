import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeyEntity } from '../keys/api-key.entity.js';
import { ConsoleKeysController } from './console-keys.controller.js';
import { ConsoleKeysService } from './console-keys.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyEntity])],
  controllers: [ConsoleKeysController],
  providers: [ConsoleKeysService],
  exports: [ConsoleKeysService],
})
export class ConsoleKeysModule {}
