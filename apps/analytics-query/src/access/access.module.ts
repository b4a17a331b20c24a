import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TokenGuard } from './token.guard.js';
import { TokenVerifier } from './token-verifier.js';

/** Guards every HTTP handler of the app. */
@Module({ providers: [TokenVerifier, { provide: APP_GUARD, useClass: TokenGuard }] })
export class AccessModule {}
