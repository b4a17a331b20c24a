import type { AppName } from '@perkway/domain';
import type { Fleet } from './fleet.js';

/** One file `<name>.bench.ts` exports one as `scenario`. */
export interface Scenario {
  title: string;
  /** The apps that it needs, in the order in which they start. */
  apps: AppName[];
  /** Of its Postgres, where it is not the one of npm: the folder with the programs. */
  programs?: string;
  /** @returns how many targets were missed */
  run: (fleet: Fleet) => Promise<number>;
}
