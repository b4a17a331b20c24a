import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TokenGuard } from '../access/token.guard.js';
import { TokenVerifier } from '../access/token-verifier.js';
import { AccountModels } from '../reader/account-models.js';
import { Coverages } from '../reader/coverages.js';
import { Reader } from '../reader/reader.js';
import { CubeApiController } from './cube-api.controller.js';
import { LoadService } from './load.service.js';

/** The role `query`. */
@Module({
  controllers: [CubeApiController],
  providers: [
    Reader,
    Coverages,
    AccountModels,
    LoadService,
    TokenVerifier,
    { provide: APP_GUARD, useClass: TokenGuard },
  ],
})
export class QueryModule {}
