import { parseKeyring } from '@perkway/signing';
import type { CollectionStore } from '../catalog/collection-store.js';
import { toCollection } from '../catalog/load-collection.js';
import type { PerksEnv } from '../env.js';
import { CollectionReadsService } from './collection-reads.service.js';
import { NO_FILTERS } from './perk-filters.js';

const aCollection = (id: string) =>
  toCollection({ id, owner: 'acme', revision: '1', groups: [], perks: [], categories: [] });

describe('the template cache', () => {
  let hasChanged: (id: string) => void;
  const reads = (TEMPLATE_CACHE_MB: number) => {
    const service = new CollectionReadsService(
      { onChange: (listener: typeof hasChanged) => (hasChanged = listener) } as unknown as CollectionStore,
      {
        LINK_SIGNING_KEYS: parseKeyring(`k1:${Buffer.alloc(32, 7).toString('base64url')}`),
        LINKS_URL: 'https://links.example',
        DEFAULT_LANGUAGE: 'en',
        TEMPLATE_CACHE_MB,
      } as PerksEnv,
    );
    return (id: string) => service.collection(aCollection(id), NO_FILTERS, {});
  };

  it('keeps templates until their collection changes', () => {
    const read = reads(1);
    const [first, other] = [read('first'), read('other')];
    expect(read('first')).toBe(first);
    expect(read('other')).toBe(other);
    hasChanged('first');
    expect(read('first')).not.toBe(first);
    expect(read('other')).toBe(other);
  });

  it('keeps a template larger than the whole limit until the next one comes', () => {
    const read = reads(0.0001);
    const first = read('first');
    expect(read('first')).toBe(first);
    read('other');
    expect(read('first')).not.toBe(first);
  });
});
