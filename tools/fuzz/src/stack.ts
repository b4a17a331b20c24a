import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WholeStackFile } from '@perkway/fleet';
import { LocalStack } from '@perkway/test-fleet';

export interface RunningStack extends WholeStackFile {
  stop(): Promise<void>;
}

/** Uses a running stack. */
export const givenStack = (file: string): RunningStack => ({
  ...(JSON.parse(readFileSync(file, 'utf8')) as WholeStackFile),
  stop: async () => undefined,
});

/** Starts a separate local stack from the built bundles. Its data is removed when it stops. */
export async function startStack(): Promise<RunningStack> {
  const folder = mkdtempSync(join(tmpdir(), 'perkway-fuzz-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const stack = await LocalStack.start({ folder });
    return { ...stack.file, stop: () => stack.stop().then(remove, remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
