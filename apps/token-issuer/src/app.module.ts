import { Module } from '@nestjs/common';
import { AdminLogModule, AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { AccountsModule } from './accounts/accounts.module.js';
import { ErasuresModule } from './erasures/erasures.module.js';
import { KeyResolverModule } from './keys/key-resolver.module.js';
import { KeysModule } from './keys/keys.module.js';
import { PeopleModule } from './people/people.module.js';
import { TokensModule } from './tokens/tokens.module.js';

@Module({
  imports: [
    DatabaseModule,
    KeyResolverModule,
    AuthModule,
    AdminLogModule.forHost('token'),
    AccountsModule,
    KeysModule,
    PeopleModule,
    TokensModule,
    ErasuresModule,
  ],
})
export class AppModule {}
