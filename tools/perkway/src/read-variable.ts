import { readFileSync } from 'node:fs';

/** A problem that the user can fix, in one sentence. */
export class CommandError extends Error {}

/** Returns the contents of the file that `NAME_FILE` names, else `NAME`; undefined if neither is set. */
export function readVariable(name: string): string | undefined {
  const file = process.env[`${name}_FILE`];
  if (!file) return process.env[name] || undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (cause) {
    throw new CommandError(
      `Cannot read the file of ${name}_FILE (${(cause as NodeJS.ErrnoException).code}).`,
      {
        cause,
      },
    );
  }
}

/** Returns the operator's broker URL, for commands that read streams. */
export function readOperatorUrl(): string {
  const url = readVariable('NATS_URL');
  if (!url) throw new CommandError('NATS_URL is missing. Set the URL of a user with all permissions.');
  return url;
}

/** Runs a command. An error becomes one line on standard error and exit code 1. */
export async function runCommand(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
