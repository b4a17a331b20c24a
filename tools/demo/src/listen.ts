import { resolve } from 'node:path';

import { readCommandLine, refuseUsage } from '@perkway/command-line';
import { createPerkway, type WebhookEvent } from '@perkway/client';
import { parseUrl } from '@perkway/domain';
import { newWebhookSecret, webhookHeaders } from '@perkway/signing';

import { readStack } from './demo.js';
import { DemoError } from './journey.js';

const USAGE = `npm run listen -- --forward <url> [--account <id>]

Forwards the events of an account of the running stack to a local URL, signed like webhooks. Ctrl-C stops it.

  --forward <url>  such as http://127.0.0.1:3000/hook
  --account <id>   default: the first account of the stack`;
const TIMEOUT_MS = 15_000;

function readArguments(): { forward: string; accountId: string | undefined } {
  const { values } = readCommandLine(USAGE, {
    options: { forward: { type: 'string' }, account: { type: 'string' } },
  });
  const { forward, account } = values;
  if (forward && /^https?:/.test(forward) && parseUrl(forward)) return { forward, accountId: account };
  return refuseUsage('--forward must be an http:// or https:// URL');
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

async function post(url: string, secret: string, event: WebhookEvent): Promise<string> {
  const body = JSON.stringify(event);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...webhookHeaders([secret], event.id, Date.now(), body),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return cause?.code ?? (error as Error).name;
  }
}

try {
  const { forward, accountId } = readArguments();
  const { hosts, accounts } = readStack(resolve(process.env.STACK_FILE || '.local/stack.json'));
  const account = accounts.find(({ id }) => accountId === undefined || id === accountId);
  if (!account)
    throw new DemoError(
      `The stack has no account ${accountId}. Its accounts are ${accounts.map(({ id }) => id).join(', ')}.`,
    );
  const secret = newWebhookSecret();
  print(`Forwarding events of ${account.id} to ${forward}`);
  print(`Secret: ${secret}`);
  const { events } = createPerkway({ apiKey: account.userKey, hosts });
  for await (const event of events.list({ from: new Date().toISOString() }))
    print(`${event.occurred_at} ${event.type} ${event.id} -> ${await post(forward, secret, event)}`);
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
