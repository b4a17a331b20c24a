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

/** Returns a table with the first column aligned left and the others right. The first row is the head. */
export function formatTable(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
  return rows.map((row) => row.map(align).join('  ')).join('\n');
}
