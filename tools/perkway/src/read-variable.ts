import { readFileSync } from 'node:fs';

/** Something that the person who ran the command can mend, in one sentence. */
export class CommandError extends Error {}

/** `NAME`, or the contents of the file that `NAME_FILE` names; undefined if neither is set. */
export function readVariable(name: string): string | undefined {
  const file = process.env[`${name}_FILE`];
  if (!file) return process.env[name] || undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (cause) {
    throw new CommandError(`${name}_FILE cannot be read (${(cause as NodeJS.ErrnoException).code}).`, {
      cause,
    });
  }
}

/** Of the broker, for commands that look into its streams. */
export function readOperatorUrl(): string {
  const url = readVariable('NATS_URL');
  if (!url) throw new CommandError('NATS_URL is missing: the URL of a user who may do everything.');
  return url;
}

/** Runs a command; what went wrong is one line on standard error and exit code 1. */
export async function runCommand(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
