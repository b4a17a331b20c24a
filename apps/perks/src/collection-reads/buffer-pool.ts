/** Smaller buffers are not pooled, because Node allocates them fast enough. */
export const MIN_POOLED_LENGTH = 4 * 1024;

/**
 * Reuses the memory of responses. Allocating 100 KB costs several times as much as filling it, and leaves garbage to
 * collect.
 */
export class BufferPool {
  private readonly free = new Map<number, Buffer[]>();
  private bytes = 0;

  /** @param maxBytes of unused memory to keep */
  constructor(private readonly maxBytes: number) {}

  get unusedBytes(): number {
    return this.bytes;
  }

  /** Returns a buffer of at least this length with arbitrary content. */
  take(length: number): Buffer {
    const size = sizeFor(length);
    const buffer = this.free.get(size)?.pop();
    if (!buffer) return Buffer.allocUnsafeSlow(size);
    this.bytes -= size;
    return buffer;
  }

  /** Gives back a buffer that came from `take`, once nobody reads it. */
  give(buffer: Buffer): void {
    const { length } = buffer;
    if (this.bytes + length > this.maxBytes) return;
    let list = this.free.get(length);
    if (!list) this.free.set(length, (list = []));
    list.push(buffer);
    this.bytes += length;
  }
}

/** Rounds up to one of eight sizes between powers of two, so that buffers fit later responses. */
function sizeFor(length: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(length)) - 3);
  return Math.ceil(length / step) * step;
}
