import { Global, Module } from '@nestjs/common';
import { KEY_RESOLVER, type KeyResolver } from '@perkway/auth';
import { DataSource } from 'typeorm';
import { resolveKeys } from './resolve-keys.js';

/** The owner of the keys asks nobody else about them. */
@Global()
@Module({
  providers: [
    {
      provide: KEY_RESOLVER,
      inject: [DataSource],
      useFactory:
        (dataSource: DataSource): KeyResolver =>
        (hashes) =>
          resolveKeys(dataSource, hashes),
    },
  ],
  exports: [KEY_RESOLVER],
})
export class KeyResolverModule {}
