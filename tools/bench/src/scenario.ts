import type { AppName } from '@perkway/domain';
import type { Fleet } from './fleet.js';

/** A benchmark. Each file `<name>.bench.ts` exports one as `scenario`. */
export interface Scenario {
  title: string;
  /** The apps to start, in this order. */
  apps: AppName[];
  /** Folder with the programs of another Postgres; defaults to npm's. */
  programs?: string;
  /** @returns the number of missed targets */
  run: (fleet: Fleet) => Promise<number>;
}
