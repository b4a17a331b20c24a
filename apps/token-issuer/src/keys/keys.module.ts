import { Module, type DynamicModule } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import type { TokenIssuerEnv } from '../env.js';
import { BOOTSTRAP_ADMIN_KEY, BootstrapAdminKey } from './bootstrap-admin-key.js';
import { KeysController } from './keys.controller.js';
import { KeysService, PEPPER } from './keys.service.js';

@Module({})
export class KeysModule {
  static register(env: TokenIssuerEnv): DynamicModule {
    return {
      module: KeysModule,
      imports: [AccountsModule],
      controllers: [KeysController],
      providers: [
        { provide: PEPPER, useValue: env.API_KEY_PEPPER },
        { provide: BOOTSTRAP_ADMIN_KEY, useValue: env.BOOTSTRAP_ADMIN_KEY },
        KeysService,
        BootstrapAdminKey,
      ],
    };
  }
}
