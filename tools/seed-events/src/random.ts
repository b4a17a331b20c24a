/** A seeded pseudo-random generator (xorshift with 32 bits of state). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = Math.imul(seed + 1, 0x9e3779b1) | 1;
    for (let warm = 0; warm < 4; warm += 1) this.bits();
  }

  /** Returns a signed 32-bit integer. */
  bits(): number {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (this.state = x);
  }

  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor(((this.bits() >>> 0) / 0x1_0000_0000) * limit);
  }

  chance(probability: number): boolean {
    return (this.bits() >>> 0) / 0x1_0000_0000 < probability;
  }

  /** Returns low numbers more often: the first of 100 about every tenth time. */
  skewed(limit: number): number {
    const uniform = (this.bits() >>> 0) / 0x1_0000_0000;
    return Math.floor(limit * uniform * uniform);
  }
}
