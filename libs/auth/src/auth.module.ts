import { Global, Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { SUBJECTS, type ResolveKeysReply } from '@perkway/domain';
import { LOGGER, RpcClient, secret } from '@perkway/platform';
import { makeValidator } from 'envalid';
import type { Logger } from 'pino';
import { ApiKeyGuard } from './api-key.guard.js';
import { KeyRateLimiter } from './key-rate-limiter.js';
import { KeyStore, type KeyResolver } from './key-store.js';

const nonNegative = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 0) throw new Error('must be an integer of at least 0');
  return value;
});

/** Part of the environment of every app that checks keys. */
export const authEnv = {
  API_KEY_PEPPER: secret({ desc: 'Secret over which API keys are hashed; the same in all apps' }),
  RATE_LIMIT_PER_KEY: nonNegative({
    default: 20_000,
    desc: 'Requests a second of one key in one process; 0: no limit',
  }),
};

export interface AuthOptions {
  env: { API_KEY_PEPPER: string; RATE_LIMIT_PER_KEY: number };
  /**
   * Provides a KeyResolver for the app that owns the keys; the others ask that app over NATS.
   * `imports` are the modules whose providers the factory injects.
   */
  resolver?: Pick<DynamicModule, 'imports'> & {
    inject: NonNullable<FactoryProvider['inject']>;
    useFactory: (...injected: never[]) => KeyResolver;
  };
}

const RESOLVER = Symbol('KEY_RESOLVER');

const askOwner =
  (rpc: RpcClient): KeyResolver =>
  async (hashes) =>
    (await rpc.request<ResolveKeysReply>(SUBJECTS.resolveKeys, { hashes }, 'The API key service')).keys;

/** Guards every HTTP handler of the app. Register it once, in the app's root module. */
@Global()
@Module({})
export class AuthModule {
  static register({ env, resolver }: AuthOptions): DynamicModule {
    return {
      module: AuthModule,
      imports: resolver?.imports ?? [],
      providers: [
        {
          provide: RESOLVER,
          inject: resolver?.inject ?? [RpcClient],
          useFactory: resolver?.useFactory ?? askOwner,
        },
        {
          provide: KeyStore,
          inject: [RESOLVER, LOGGER],
          useFactory: (resolve: KeyResolver, logger: Logger) =>
            new KeyStore(env.API_KEY_PEPPER, resolve, logger),
        },
        {
          provide: APP_GUARD,
          inject: [KeyStore],
          useFactory: (keys: KeyStore) => new ApiKeyGuard(keys, new KeyRateLimiter(env.RATE_LIMIT_PER_KEY)),
        },
      ],
      exports: [KeyStore],
    };
  }
}
