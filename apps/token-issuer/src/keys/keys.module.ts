import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { HealthModule } from '@perkway/platform';
import { AccountEntity } from '../accounts/account.entity.js';
import { ConsoleKeysModule } from '../console-keys/console-keys.module.js';
import { AllKeysController } from './all-keys.controller.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { BootstrapAdminKey } from './bootstrap-admin-key.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity, ApiKeyEntity]), ConsoleKeysModule, HealthModule],
  controllers: [KeysController, AllKeysController],
  providers: [KeysService, BootstrapAdminKey],
})
export class KeysModule {}
