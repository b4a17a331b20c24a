import { readFileSync } from 'node:fs';

import { PerkwayError } from '@perkway/client';
import { compareCounts, COUNT_LIMIT_MS } from './counts.js';
import { DemoError, type Host, Journey, type Stack, STEPS, type Step } from './journey.js';
import { MARKS } from './show.js';

/** Reads the stack file of `npm start`. @throws DemoError if no stack is running */
export function readStack(file: string): Stack {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new DemoError(
      `No stack is running: ${file} does not exist. Start one with npm start, or set STACK_FILE to its file.`,
    );
  }
  try {
    return JSON.parse(text) as Stack;
  } catch {
    throw new DemoError(`${file} is not the JSON that npm start writes. Restart the stack.`);
  }
}

/** Walks through one customer journey. @throws DemoError at the first step that fails */
export async function runDemo(
  stack: Stack,
  print: (line: string) => void,
  countLimitMs = COUNT_LIMIT_MS,
): Promise<void> {
  const account = stack.accounts[0];
  if (!account) throw new DemoError('The stack has no demo account. Was the demo data applied?');
  const journey = new Journey(stack, account, print);
  print(`A customer of ${account.id}, run ${journey.run}`);
  print(`(tracked URLs also carry ${MARKS.join(' and ')}, both set to the name of the run)`);

  const count: Step = {
    title: 'The client asks what was counted',
    needs: ['token', 'query'],
    run: () => compareCounts(journey, countLimitMs),
  };
  for (const [index, step] of [...STEPS, count].entries()) {
    const absent = step.needs.filter((host: Host) => !stack.hosts[host]);
    print('');
    print(`${String(index + 1).padStart(4)}  ${step.title}`);
    if (absent.length > 0) {
      journey.say(`skipped: this stack has no ${absent.join(' and no ')}`);
      continue;
    }
    try {
      await step.run(journey);
    } catch (error) {
      if (error instanceof DemoError) throw error;
      if (error instanceof PerkwayError) throw journey.explained(error);
      throw new DemoError(`“${step.title}” got an unexpected response: ${(error as Error).message}.`);
    }
  }
}
