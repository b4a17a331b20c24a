import { Module } from '@nestjs/common';
import { CatalogWriter } from './catalog-writer.js';
import { CollectionStore } from './collection-store.js';

/** Shared by the feature folders: the in-memory catalogue and its writer. */
@Module({ providers: [CollectionStore, CatalogWriter], exports: [CollectionStore, CatalogWriter] })
export class CatalogModule {}
