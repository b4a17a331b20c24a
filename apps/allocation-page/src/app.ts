import { setupOpenApi, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { AllocationPageEnv } from './env.js';
import { addSecurityHeaders } from './site/security-headers.js';

/** @param assetsFolder where the build has put the bundled page */
export const defineApp = (env: AllocationPageEnv, assetsFolder: string): AppDefinition => ({
  name: 'allocation-page',
  module: AppModule.register(env, assetsFolder),
  env,
  bodyLimit: 16 * 1024,
  configure: (app) => {
    addSecurityHeaders(app.getHttpServer(), env.REWARDS_URL);
    setupOpenApi(
      app,
      'Perkway Allocation Page',
      'The two operations of a recipient. The token of the link is the only credential.',
      (document) => document.addBearerAuth({ type: 'http', scheme: 'bearer' }, 'linkToken'),
    );
  },
});
