import { Global, Module } from '@nestjs/common';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { KEY_RESOLVER, KEY_USE_RECORDER } from '@perkway/auth';
import { DataSource } from 'typeorm';
import { ApiKeyEntity } from './api-key.entity.js';
import { keyResolver } from './key-resolver.js';
import { keyUseRecorder } from './key-use-recorder.js';

/** Lets token-issuer, which stores the keys, resolve them and record their uses directly, instead of over NATS. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyEntity])],
  providers: [
    { provide: KEY_RESOLVER, inject: [getRepositoryToken(ApiKeyEntity)], useFactory: keyResolver },
    { provide: KEY_USE_RECORDER, inject: [DataSource], useFactory: keyUseRecorder },
  ],
  exports: [KEY_RESOLVER, KEY_USE_RECORDER],
})
export class KeyResolverModule {}
