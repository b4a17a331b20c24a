import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CREDENTIALS } from '@perkway/platform';
import { TokenGuard, tokenCredentials } from './token.guard.js';
import { TokenVerifier } from './token-verifier.js';

/** Guards every HTTP handler of the app. */
@Module({
  providers: [
    TokenVerifier,
    { provide: APP_GUARD, useClass: TokenGuard },
    { provide: CREDENTIALS, useValue: tokenCredentials },
  ],
})
export class AccessModule {}
