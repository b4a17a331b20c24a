import { resolve } from 'node:path';

import { readCommandLine } from '@perkway/command-line';
import { readStack, runDemo } from './demo.js';
import { DemoError } from './journey.js';

readCommandLine(
  `npm run demo

Runs one customer journey on the running stack, and checks that every interaction was counted. Set STACK_FILE to use
another stack file than .local/stack.json.`,
  {},
);
const print = (line: string): boolean => process.stdout.write(`${line}\n`);

try {
  await runDemo(readStack(resolve(process.env.STACK_FILE || '.local/stack.json')), print);
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
}
