import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { BootstrapAdminKey } from './bootstrap-admin-key.js';
import { KeysController } from './keys.controller.js';
import { KeysService } from './keys.service.js';

@Module({
  imports: [AccountsModule],
  controllers: [KeysController],
  providers: [KeysService, BootstrapAdminKey],
})
export class KeysModule {}
