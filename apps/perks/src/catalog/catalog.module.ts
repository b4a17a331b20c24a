import { Module } from '@nestjs/common';
import { CatalogWriter } from './catalog-writer.js';
import { CollectionStore } from './collection-store.js';

/** What the feature folders share: the catalogue in memory, and the way to change it. */
@Module({ providers: [CollectionStore, CatalogWriter], exports: [CollectionStore, CatalogWriter] })
export class CatalogModule {}
