import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { REPORT_KEY_USES, RESOLVE_KEYS } from '@perkway/domain';
import {
  confidential,
  CREDENTIALS,
  ENV,
  GuessLimiter,
  LOGGER,
  Pages,
  RpcClient,
  secret,
  SharedCounts,
} from '@perkway/platform';
import { makeValidator, type CleanedEnv } from 'envalid';
import type { Logger } from 'pino';
import { apiKeyCredentials } from './api-key.credentials.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { KeyRateLimiter } from './key-rate-limiter.js';
import { KeyStore, type KeyResolver } from './key-store.js';
import { KeyUseReporter, type KeyUseRecorder } from './key-use-reporter.js';

/** Between two looks at keys of an address that is past its limit: each is a question to another app and its database. */
const GUESS_PACE_MS = 200;

const nonNegative = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 0) throw new Error('must be an integer of at least 0');
  return value;
});

/** Part of the environment of every app that checks keys. */
export const authEnv = {
  API_KEY_PEPPER: confidential(
    secret({ desc: 'Secret over which API keys are hashed; the same in all apps' }),
  ),
  RATE_LIMIT_PER_KEY: nonNegative({
    default: 20_000,
    desc: 'Requests a second of one key, in all replicas of an app; 0: no limit',
  }),
  UNKNOWN_KEYS_PER_MINUTE: nonNegative({
    default: 60,
    desc: 'Unknown keys that one address may try, in all replicas of an app; 0: no limit',
  }),
};

export type AuthEnv = CleanedEnv<typeof authEnv>;

/** Injects the `KeyResolver` of the app that owns the keys, from a global module of it; all others ask that app. */
export const KEY_RESOLVER = Symbol('KEY_RESOLVER');

/** Injects the `KeyUseRecorder` of that app. */
export const KEY_USE_RECORDER = Symbol('KEY_USE_RECORDER');

const askOwner =
  (rpc: RpcClient): KeyResolver =>
  (hashes) =>
    rpc.ask(RESOLVE_KEYS, { ids: hashes });

/**
 * Guards every HTTP handler of the app. Guards run in the order of the imports of the app's module: this one stands
 * before every module that has a guard of its own.
 */
@Global()
@Module({
  providers: [
    {
      provide: KeyStore,
      inject: [ENV, LOGGER, RpcClient, { token: KEY_RESOLVER, optional: true }],
      useFactory: ({ API_KEY_PEPPER }: AuthEnv, logger: Logger, rpc: RpcClient, own?: KeyResolver) =>
        new KeyStore(API_KEY_PEPPER, own ?? askOwner(rpc), logger),
    },
    {
      provide: KeyUseReporter,
      inject: [KeyStore, LOGGER, RpcClient, { token: KEY_USE_RECORDER, optional: true }],
      useFactory: (keys: KeyStore, logger: Logger, rpc: RpcClient, own?: KeyUseRecorder) =>
        new KeyUseReporter(keys, own ?? ((uses) => rpc.ask(REPORT_KEY_USES, uses)), logger),
    },
    { provide: CREDENTIALS, useValue: apiKeyCredentials },
    {
      provide: Pages,
      inject: [ENV],
      useFactory: ({ API_KEY_PEPPER }: AuthEnv) => new Pages(API_KEY_PEPPER),
    },
    {
      provide: APP_GUARD,
      inject: [KeyStore, ENV, SharedCounts],
      useFactory: (
        keys: KeyStore,
        { RATE_LIMIT_PER_KEY, UNKNOWN_KEYS_PER_MINUTE }: AuthEnv,
        counts: SharedCounts,
      ) =>
        new ApiKeyGuard(
          keys,
          new KeyRateLimiter(RATE_LIMIT_PER_KEY, counts),
          new GuessLimiter(UNKNOWN_KEYS_PER_MINUTE, 'API keys', counts, GUESS_PACE_MS),
        ),
    },
  ],
  exports: [KeyStore, Pages],
})
export class AuthModule {}
