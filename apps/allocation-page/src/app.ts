import { renderProblem, type AppDefinition } from '@perkway/platform';
import { AppModule } from './app.module.js';
import type { AllocationPageEnv } from './env.js';
import { isForPerson } from './site/addresses.js';
import { addSecurityHeaders } from './site/security-headers.js';
import { SiteService } from './site/site.service.js';

export function defineApp(env: AllocationPageEnv): AppDefinition {
  // Set in `configure`, before the first request.
  let site: SiteService;
  return {
    name: 'allocation-page',
    module: AppModule,
    env,
    openapi: {
      title: 'Perkway Allocation Page',
      description: 'The two operations of a recipient. The token of the link is the only credential.',
      url: env.REWARDS_URL,
      // The documentation page would need an exception from the content security policy of this origin.
      withPage: false,
    },
    // People always get the page: its script can read a token even from a URL that the router rejects.
    errors: (error, requestId, requested) =>
      isForPerson(requested?.address ?? '')
        ? {
            contentType: 'text/html; charset=utf-8',
            body: site.page(undefined, requested?.acceptLanguage).content.plain.toString(),
          }
        : renderProblem(error, requestId),
    bodyLimit: 16 * 1024,
    configure: (app) => {
      site = app.get(SiteService, { strict: false });
      addSecurityHeaders(app.getHttpServer(), env.REWARDS_URL);
    },
  };
}
