import { Module, type DynamicModule } from '@nestjs/common';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { ClicksModule } from './clicks/clicks.module.js';
import type { LinksEnv } from './env.js';

/** Has no guard: a click_url carries its own credential, and there is nothing else here. */
@Module({})
export class AppModule {
  static register(env: LinksEnv): DynamicModule {
    return {
      module: AppModule,
      imports: [
        DatabaseModule.register(env, { app: 'links' }),
        TrackingModule.register({ app: 'links' }),
        ClicksModule.register(env.LINK_SIGNING_KEYS),
      ],
    };
  }
}
