import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { REPORT_KEY_USES, RESOLVE_KEYS } from '@perkway/domain';
import {
  confidential,
  CREDENTIALS,
  ENV,
  FailedAttemptLimiter,
  LOGGER,
  KeysetPaginator,
  Loops,
  RpcClient,
  secret,
  ReplicaCounts,
} from '@perkway/platform';
import { makeValidator, type CleanedEnv } from 'envalid';
import type { Logger } from 'pino';
import { apiKeyCredentials } from './api-key.credentials.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { KeyRateLimiter } from './key-rate-limiter.js';
import { KeyStore, type KeyResolver } from './key-store.js';
import { KeyUseReporter, type KeyUseRecorder } from './key-use-reporter.js';

const nonNegative = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 0) throw new Error('must be an integer of at least 0');
  return value;
});

/** Environment variables of every app that checks keys. */
export const authEnv = {
  API_KEY_PEPPER: confidential(secret({ desc: 'Pepper for hashing API keys; the same in all apps' })),
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

/** Injects the `KeyResolver` of the app that owns the keys, from a global module; other apps resolve keys over NATS. */
export const KEY_RESOLVER = Symbol('KEY_RESOLVER');

/** Injects the `KeyUseRecorder` of the app that owns the keys. */
export const KEY_USE_RECORDER = Symbol('KEY_USE_RECORDER');

const requestOwner =
  (rpc: RpcClient): KeyResolver =>
  (hashes) =>
    rpc.request(RESOLVE_KEYS, { ids: hashes });

/**
 * Guards every HTTP handler of the app. Guards run in import order, so import this module before every module with its
 * own guard.
 */
@Global()
@Module({
  providers: [
    {
      provide: KeyStore,
      inject: [ENV, LOGGER, RpcClient, { token: KEY_RESOLVER, optional: true }],
      useFactory: ({ API_KEY_PEPPER }: AuthEnv, logger: Logger, rpc: RpcClient, own?: KeyResolver) =>
        new KeyStore(API_KEY_PEPPER, own ?? requestOwner(rpc), logger),
    },
    {
      provide: KeyUseReporter,
      inject: [KeyStore, Loops, RpcClient, { token: KEY_USE_RECORDER, optional: true }],
      useFactory: (keys: KeyStore, loops: Loops, rpc: RpcClient, own?: KeyUseRecorder) =>
        new KeyUseReporter(keys, own ?? ((uses) => rpc.request(REPORT_KEY_USES, uses)), loops),
    },
    { provide: CREDENTIALS, useValue: apiKeyCredentials },
    {
      provide: KeysetPaginator,
      inject: [ENV],
      useFactory: ({ API_KEY_PEPPER }: AuthEnv) => new KeysetPaginator(API_KEY_PEPPER),
    },
    {
      provide: APP_GUARD,
      inject: [KeyStore, ENV, ReplicaCounts],
      useFactory: (
        keys: KeyStore,
        { RATE_LIMIT_PER_KEY, UNKNOWN_KEYS_PER_MINUTE }: AuthEnv,
        counts: ReplicaCounts,
      ) =>
        new ApiKeyGuard(
          keys,
          new KeyRateLimiter(RATE_LIMIT_PER_KEY, counts),
          new FailedAttemptLimiter(UNKNOWN_KEYS_PER_MINUTE, 'API keys', counts),
        ),
    },
  ],
  exports: [KeyStore, KeysetPaginator],
})
export class AuthModule {}
