import { Global, Module, type DynamicModule } from '@nestjs/common';
import { PERKS_ENV, type PerksEnv } from '../env.js';
import { CatalogWriter } from './catalog-writer.js';
import { CollectionStore } from './collection-store.js';

/** What the feature folders share: the environment, the catalogue in memory, and the way to change it. */
@Global()
@Module({})
export class CatalogModule {
  static register(env: PerksEnv): DynamicModule {
    return {
      module: CatalogModule,
      providers: [{ provide: PERKS_ENV, useValue: env }, CollectionStore, CatalogWriter],
      exports: [PERKS_ENV, CollectionStore, CatalogWriter],
    };
  }
}
