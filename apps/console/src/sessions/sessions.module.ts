import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { KeyStore } from '@perkway/auth';
import { RESOLVE_KEYS } from '@perkway/domain';
import { CREDENTIALS, ENV, GuessLimiter, LOGGER, Pages, RpcClient, SharedCounts } from '@perkway/platform';
import type { Logger } from 'pino';
import type { ConsoleEnv } from '../env.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { ConsoleKeys } from './console-keys.js';
import { SessionCookie } from './session-cookie.js';
import { SessionController } from './session.controller.js';
import { sessionCredentials, SessionGuard } from './session.guard.js';
import { SessionsService } from './sessions.service.js';

/** Between two tries of an address that has sent too many wrong keys. */
const SIGN_IN_PACE_MS = 500;

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
        new KeyStore(API_KEY_PEPPER, (hashes) => rpc.ask(RESOLVE_KEYS, { ids: hashes }), logger),
    },
    {
      provide: SessionCookie,
      inject: [ENV],
      useFactory: ({ CONSOLE_URL }: ConsoleEnv) => new SessionCookie(CONSOLE_URL),
    },
    {
      provide: GuessLimiter,
      inject: [ENV, SharedCounts],
      useFactory: ({ WRONG_KEYS_PER_MINUTE }: ConsoleEnv, counts: SharedCounts) =>
        new GuessLimiter(WRONG_KEYS_PER_MINUTE, 'keys to sign in with', counts, SIGN_IN_PACE_MS),
    },
    {
      provide: Pages,
      inject: [ENV],
      useFactory: ({ API_KEY_PEPPER }: ConsoleEnv) => new Pages(API_KEY_PEPPER),
    },
    ConsoleKeys,
    SessionsService,
  ],
  exports: [ConsoleKeys, KeyStore, Pages, SessionCookie, SessionsService],
})
export class SessionsModule {}
