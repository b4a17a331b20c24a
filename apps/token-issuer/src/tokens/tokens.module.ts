import { Module, type DynamicModule } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { TokensController } from './tokens.controller.js';
import { TOKEN_OPTIONS, TokensService, type TokenOptions } from './tokens.service.js';

@Module({})
export class TokensModule {
  static register(options: TokenOptions): DynamicModule {
    return {
      module: TokensModule,
      imports: [AccountsModule],
      controllers: [TokensController],
      providers: [{ provide: TOKEN_OPTIONS, useValue: options }, TokensService],
    };
  }
}
