import { Global, Module } from '@nestjs/common';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { KEY_RESOLVER } from '@perkway/auth';
import { ApiKeyEntity } from './api-key.entity.js';
import { keyResolver } from './key-resolver.js';

/** The owner of the keys asks nobody else about them. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyEntity])],
  providers: [{ provide: KEY_RESOLVER, inject: [getRepositoryToken(ApiKeyEntity)], useFactory: keyResolver }],
  exports: [KEY_RESOLVER],
})
export class KeyResolverModule {}
