import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Exits with code 2 after printing what is wrong with the command line. */
export function refuseUsage(problem: string): never {
  process.stderr.write(`${problem.replace(/\.$/, '')}; --help shows the usage.\n`);
  process.exit(2);
}

/** Reads the command line. Exits on `--help` with the usage, and on unknown options with an error. */
export function readCommandLine<const T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) {
    process.stdout.write(`Usage: ${usage.trim()}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    // Drops the second sentence, which Node adds about arguments that begin with a dash.
    return refuseUsage((error as Error).message.split('. ')[0]!);
  }
}
