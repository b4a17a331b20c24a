import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { KeyStore } from '@perkway/auth';
import { RESOLVE_KEYS } from '@perkway/domain';
import {
  CREDENTIALS,
  ENV,
  FailedAttemptLimiter,
  LOGGER,
  KeysetPaginator,
  RpcClient,
  ReplicaCounts,
} from '@perkway/platform';
import type { Logger } from 'pino';
import type { ConsoleEnv } from '../env.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { ConsoleKeys } from './console-keys.js';
import { SessionCookie } from './session-cookie.js';
import { SessionController } from './session.controller.js';
import { sessionCredentials, SessionGuard } from './session.guard.js';
import { SessionsService } from './sessions.service.js';

/** Guards every handler of the app. */
@Global()
@Module({
  imports: [SignInModule],
  controllers: [SessionController],
  providers: [
    { provide: APP_GUARD, useClass: SessionGuard },
    { provide: CREDENTIALS, useValue: sessionCredentials },
    {
      provide: KeyStore,
      inject: [ENV, LOGGER, RpcClient],
      useFactory: ({ API_KEY_PEPPER }: ConsoleEnv, logger: Logger, rpc: RpcClient) =>
        new KeyStore(API_KEY_PEPPER, (hashes) => rpc.request(RESOLVE_KEYS, { ids: hashes }), logger),
    },
    {
      provide: SessionCookie,
      inject: [ENV],
      useFactory: ({ CONSOLE_URL }: ConsoleEnv) => new SessionCookie(CONSOLE_URL),
    },
    {
      provide: FailedAttemptLimiter,
      inject: [ENV, ReplicaCounts],
      useFactory: ({ WRONG_KEYS_PER_MINUTE }: ConsoleEnv, counts: ReplicaCounts) =>
        new FailedAttemptLimiter(WRONG_KEYS_PER_MINUTE, 'sign-in keys', counts),
    },
    {
      provide: KeysetPaginator,
      inject: [ENV],
      useFactory: ({ API_KEY_PEPPER }: ConsoleEnv) => new KeysetPaginator(API_KEY_PEPPER),
    },
    ConsoleKeys,
    SessionsService,
  ],
  exports: [ConsoleKeys, KeyStore, KeysetPaginator, SessionCookie, SessionsService],
})
export class SessionsModule {}
