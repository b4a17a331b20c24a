import { Module, type DynamicModule } from '@nestjs/common';
import { TrackingModule } from '@perkway/tracking';
import { ClicksModule } from './clicks/clicks.module.js';
import type { LinksEnv } from './env.js';

/**
 * Has no guard: a click_url carries its own credential, and there is nothing else here. Has no data source either, so
 * that it starts while Postgres is away.
 */
@Module({})
export class AppModule {
  static register(env: LinksEnv): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TrackingModule.register({ app: 'links', databaseUrl: env.DATABASE_URL }),
        ClicksModule.register(env.LINK_SIGNING_KEYS),
      ],
    };
  }
}
