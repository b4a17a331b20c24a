/** Below this, memory comes fast enough from Node's own slabs. */
export const MIN_POOLED_LENGTH = 4 * 1024;

/**
 * Memory that is used again for the next answer. Getting fresh memory for an answer of a hundred kilobytes costs several
 * times as much as filling it, and it leaves the garbage collector behind to find out.
 */
export class BufferPool {
  private readonly free = new Map<number, Buffer[]>();
  private bytes = 0;

  /** @param maxBytes of memory that waits for its next use */
  constructor(private readonly maxBytes: number) {}

  get waitingBytes(): number {
    return this.bytes;
  }

  /** At least so many bytes of any content. */
  take(length: number): Buffer {
    const size = sizeFor(length);
    const buffer = this.free.get(size)?.pop();
    if (!buffer) return Buffer.allocUnsafeSlow(size);
    this.bytes -= size;
    return buffer;
  }

  /** Only what was taken, and only when nobody reads it any more. */
  give(buffer: Buffer): void {
    const { length } = buffer;
    if (this.bytes + length > this.maxBytes) return;
    let list = this.free.get(length);
    if (!list) this.free.set(length, (list = []));
    list.push(buffer);
    this.bytes += length;
  }
}

/** Few sizes, so that what one answer leaves fits another: eight steps between powers of two. */
function sizeFor(length: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(length)) - 3);
  return Math.ceil(length / step) * step;
}
