import { LRUCache } from 'lru-cache';
import { setImmediate as otherWork } from 'node:timers/promises';
import { metaPieces } from '../model/meta.js';
import type { Model } from '../model/model.js';

const MAX_BYTES = 64 * 1024 * 1024;
/** Yields to other requests after this time. */
const SLICE_MS = 10;

interface Body {
  /** The attribute names it was built with. */
  names: readonly string[];
  bytes: Promise<Buffer>;
}

/** Caches the body of `/v1/meta` for each account until its attribute names change. */
export class MetaBodies {
  private readonly built = new LRUCache<string, Body & { size: number }>({
    max: 1_000,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ size }) => size,
  });
  /** Bodies being built; concurrent requests share them. */
  private readonly building = new Map<string, Body>();

  async get(
    account: string,
    isExtended: boolean,
    names: readonly string[],
    makeModel: () => Model,
  ): Promise<Buffer> {
    const key = `${account} ${isExtended}`;
    const known = [this.built.get(key), this.building.get(key)].find(
      (body) => body && areSame(body.names, names),
    );
    if (known) return known.bytes;
    const body: Body = { names, bytes: write(makeModel(), isExtended) };
    this.building.set(key, body);
    try {
      const bytes = await body.bytes;
      this.built.set(key, { ...body, size: bytes.length });
      return bytes;
    } finally {
      if (this.building.get(key) === body) this.building.delete(key);
    }
  }
}

const areSame = (some: readonly string[], others: readonly string[]): boolean =>
  some === others || (some.length === others.length && some.every((name, index) => name === others[index]));

async function write(model: Model, isExtended: boolean): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let text = '';
  let sliceFrom = performance.now();
  for (const piece of metaPieces(model, isExtended)) {
    text += piece;
    if (performance.now() - sliceFrom < SLICE_MS) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await otherWork();
    sliceFrom = performance.now();
  }
  pieces.push(Buffer.from(text));
  return Buffer.concat(pieces);
}
