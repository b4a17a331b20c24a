import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { DataSource } from 'typeorm';
import { AccountsModule } from './accounts/accounts.module.js';
import type { TokenIssuerEnv } from './env.js';
import { KeysModule } from './keys/keys.module.js';
import { resolveKeys } from './keys/resolve-keys.js';
import { TokensModule } from './tokens/tokens.module.js';

@Module({})
export class AppModule {
  static register(env: TokenIssuerEnv): DynamicModule {
    return {
      module: AppModule,
      imports: [
        DatabaseModule.register(env, { app: 'token-issuer' }),
        AuthModule.register({
          env,
          // The owner of the keys asks nobody else about them.
          resolver: {
            inject: [DataSource],
            useFactory: (dataSource: DataSource) => (hashes) => resolveKeys(dataSource, hashes),
          },
        }),
        AccountsModule,
        KeysModule.register(env),
        TokensModule.register({
          keys: env.ANALYTICS_TOKEN_KEYS,
          issuer: env.TOKEN_URL,
          audience: env.QUERY_URL,
        }),
      ],
    };
  }
}
