import { type LanguagePreference, negotiateLanguage } from '@perkway/domain';
import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import { createLinkSigner, MAX_LINKS_IN_BATCH, type LinkBatch, type LinkSigner } from '@perkway/signing';
import { LRUCache } from 'lru-cache';
import { CollectionStore } from '../catalog/collection-store.js';
import type { Collection, PlacedPerk } from '../catalog/collection.js';
import type { PerksEnv } from '../env.js';
import type { ResponseTemplate } from './response-template.js';
import { BufferPool, MIN_POOLED_LENGTH } from './buffer-pool.js';
import { filtersKey, NO_FILTERS, type PerkFilters } from './perk-filters.js';
import { renderCategories, renderCollection, renderPerk, type RenderSettings } from './render.js';

/** Unused memory of sent responses to keep for reuse. */
const MAX_UNUSED_BYTES = 32 * 1024 * 1024;
/** Precision of the creation time in a link. */
const BATCH_MS = 20;

/** Serves the reads of specification section 4.2 from prepared templates. */
@Injectable()
export class CollectionReadsService {
  private readonly signer: LinkSigner;
  private readonly settings: RenderSettings;
  private readonly templates: LRUCache<string, ResponseTemplate>;
  private readonly memory = new BufferPool(MAX_UNUSED_BYTES);
  private batch: LinkBatch;
  private batchFrom = 0;
  private linksLeft = 0;

  constructor(
    store: CollectionStore,
    @Inject(ENV) private readonly env: PerksEnv,
  ) {
    this.signer = createLinkSigner(env.LINK_SIGNING_KEYS);
    this.settings = {
      signer: this.signer,
      linkPrefix: `${env.LINKS_URL}/c/`,
      defaultLanguage: env.DEFAULT_LANGUAGE,
    };
    const maxSize = Math.max(1, Math.round(env.TEMPLATE_CACHE_MB * 1024 * 1024));
    this.templates = new LRUCache({
      maxSize,
      // A template larger than the whole limit evicts all others, instead of being rejected.
      sizeCalculation: ({ length }) => Math.min(length + 1_024, maxSize),
    });
    store.onChange((id) => {
      for (const key of [...this.templates.keys()]) if (key.startsWith(`${id} `)) this.templates.delete(key);
    });
  }

  collection(collection: Collection, filters: PerkFilters, preference: LanguagePreference): ResponseTemplate {
    const language = this.language(preference, (tag) => collection.languages.get(tag));
    const filtered = filters === NO_FILTERS ? '' : filtersKey(filters);
    return this.prepared(`${collection.id} ${collection.revision} c ${language} ${filtered}`, () =>
      renderCollection(this.settings, collection, language, filters),
    );
  }

  perk(collection: Collection, placed: PlacedPerk, preference: LanguagePreference): ResponseTemplate {
    const { translations, categories } = placed.perk;
    const language = this.language(preference, (tag) =>
      translations.has(tag) || categories.some((category) => category.translations.has(tag))
        ? collection.languages.get(tag)
        : undefined,
    );
    return this.prepared(`${collection.id} ${collection.revision} p ${language} ${placed.perk.id}`, () =>
      renderPerk(this.settings, collection, placed, language),
    );
  }

  categories(collection: Collection, preference: LanguagePreference): ResponseTemplate {
    const language = this.language(preference, (tag) =>
      collection.categories.some((category) => category.translations.has(tag))
        ? collection.languages.get(tag)
        : undefined,
    );
    return this.prepared(`${collection.id} ${collection.revision} k ${language}`, () =>
      renderCategories(this.settings, collection, language),
    );
  }

  /** Renders a response with fresh links. Call `release`, if present, after the last read of the body. */
  fetch(template: ResponseTemplate): { body: Buffer; release?: () => void } {
    const batch = this.batchFor(template.links);
    if (template.length < MIN_POOLED_LENGTH) {
      const body = Buffer.allocUnsafe(template.length);
      template.fill(body, batch);
      return { body };
    }
    const memory = this.memory.take(template.length);
    template.fill(memory, batch);
    return { body: memory.subarray(0, template.length), release: () => this.memory.give(memory) };
  }

  /**
   * Returns a batch with room for this many links. Fetches within `BATCH_MS` share a batch, because its key costs as
   * much as fifty links; every link is still unique.
   */
  private batchFor(links: number): LinkBatch {
    const now = Date.now();
    if (links > this.linksLeft || now < this.batchFrom || now >= this.batchFrom + BATCH_MS) {
      this.batch = this.signer.begin(now);
      this.batchFrom = now;
      this.linksLeft = MAX_LINKS_IN_BATCH;
    }
    this.linksLeft -= links;
    return this.batch;
  }

  private language(preference: LanguagePreference, available: (tag: string) => string | undefined): string {
    return negotiateLanguage(preference, available, this.env.DEFAULT_LANGUAGE);
  }

  private prepared(key: string, render: () => ResponseTemplate): ResponseTemplate {
    let template = this.templates.get(key);
    if (!template) {
      template = render();
      this.templates.set(key, template);
    }
    return template;
  }
}
