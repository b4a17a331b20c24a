import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { KeyRateLimiter } from '@perkway/auth';
import { CREDENTIALS, ENV, ReplicaCounts } from '@perkway/platform';
import type { AnalyticsQueryEnv } from '../env.js';
import { ACCOUNT_LIMITER, TokenGuard, tokenCredentials } from './token.guard.js';
import { TokenVerifier } from './token-verifier.js';

/** Guards every HTTP handler of the app. */
@Module({
  providers: [
    TokenVerifier,
    {
      provide: ACCOUNT_LIMITER,
      inject: [ENV, ReplicaCounts],
      useFactory: ({ RATE_LIMIT_PER_ACCOUNT }: AnalyticsQueryEnv, counts: ReplicaCounts) =>
        new KeyRateLimiter(RATE_LIMIT_PER_ACCOUNT, counts),
    },
    { provide: APP_GUARD, useClass: TokenGuard },
    { provide: CREDENTIALS, useValue: tokenCredentials },
  ],
})
export class AccessModule {}
