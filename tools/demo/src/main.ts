import { resolve } from 'node:path';

import { readStack, runDemo } from './demo.js';
import { DemoError } from './journey.js';

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

try {
  await runDemo(readStack(resolve(process.env.STACK_FILE || '.local/stack.json')), print);
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
}
