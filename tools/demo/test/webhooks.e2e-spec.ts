import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { spawn, type ChildProcess } from 'node:child_process';
import { freePort } from '@perkway/local-servers';
import { newWebhookSecret, webhookHeaders } from '@perkway/signing';
import { waitFor } from '@perkway/testing';
import { Webhook } from 'standardwebhooks';

const ROOT = join(__dirname, '../../..');
const TSX = ['--import', 'tsx'];
const event = {
  id: 'e1',
  type: 'reward_link.revealed',
  occurred_at: '2026-11-05T09:30:00.000Z',
  subject: 'reward_link/é',
  data: {},
};

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Running {
  process: ChildProcess;
  output: () => string;
}

function run(command: string, args: string[], env: Record<string, string>): Running {
  // No input: Node's pipes are sockets, and bash with a socket as its input takes the call for a remote login and reads
  // its start-up files.
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  closers.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  return { process: child, output: () => output };
}

const blocksOf = (language: string): string[] => {
  const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code!);
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'perkway-webhooks-'));
  closers.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it('docs/webhooks.md has two receivers in TypeScript, one in Python, and one way to sign in bash', () => {
  expect(['ts', 'python', 'bash'].map((language) => blocksOf(language).length)).toEqual([2, 1, 1]);
});

describe.each([
  ['ts', 0, 'receiver.ts', process.execPath, TSX],
  ['ts', 1, 'plain-receiver.ts', process.execPath, TSX],
  ['python', 0, 'receiver.py', 'python3', []],
])('the %s receiver number %i of docs/webhooks.md', (language, nth, name, command, options) => {
  it('accepts each signed event once, and rejects others', async () => {
    const file = join(ROOT, 'tools/demo/test', `.${process.pid}-${name}`);
    writeFileSync(file, blocksOf(language)[nth]!);
    closers.push(() => rmSync(file, { force: true }));
    const [secret, port] = [newWebhookSecret(), String(await freePort())];
    const { output } = run(command, [...options, file], { WEBHOOK_SECRET: secret, PORT: port });
    const post = async (by: string, body = JSON.stringify(event)) => {
      const headers = webhookHeaders([newWebhookSecret(), by], event.id, Date.now(), body);
      const response = await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', headers, body });
      return response.status;
    };
    await waitFor(async () => (await post(newWebhookSecret()).catch(() => 0)) > 0, 'the receiver', 60_000);
    expect(await post(newWebhookSecret())).toBe(400);
    expect(await post(secret)).toBe(204);
    expect(await post(secret)).toBe(204);
    await waitFor(() => output().includes('reward_link/é'), 'the event');
    expect(output().match(/reward_link\.revealed/g)).toHaveLength(1);

    const sign = async (commands: string, by: string) => {
      const signing = run('bash', ['-euo', 'pipefail', '-c', commands], { WEBHOOK_SECRET: by, PORT: port });
      expect(await once(signing.process, 'close')).toEqual([0, null]);
      return signing.output().trim();
    };
    const [commands] = blocksOf('bash') as [string];
    expect(await sign(commands, newWebhookSecret())).toBe('400');
    expect(await sign(commands, secret)).toBe('204');
    expect(await sign(commands.replace('-d "$BODY"', '-d "$BODY "'), secret)).toBe('400');
    await waitFor(() => output().includes('reward_link/test'), 'the signed event');
  });

  it('responds 500 if the work fails, and does the work when the event arrives again', async () => {
    const file = join(ROOT, 'tools/demo/test', `.${process.pid}-${name}`);
    const done = join(folder(), 'done');
    const [code, failing] =
      language === 'ts'
        ? [
            `import { accessSync } from 'node:fs';\n`,
            'accessSync(process.env.NEEDED!); console.log(event.type',
          ]
        : ['', 'os.stat(os.environ["NEEDED"]); print(event["type"]'];
    const [, work] = failing.split('; ') as [string, string];
    const source = blocksOf(language)[nth]!;
    expect(source).toContain(work);
    writeFileSync(file, code + source.replace(work, failing));
    closers.push(() => rmSync(file, { force: true }));
    const [secret, port] = [newWebhookSecret(), String(await freePort())];
    const { output } = run(command, [...options, file], { WEBHOOK_SECRET: secret, PORT: port, NEEDED: done });
    const body = JSON.stringify(event);
    const post = async (by: string) => {
      const headers = webhookHeaders([by], event.id, Date.now(), body);
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
    };
    await waitFor(async () => (await post(newWebhookSecret()).catch(() => 0)) > 0, 'the receiver', 60_000);
    expect(await post(secret)).toBe(500);
    writeFileSync(done, '');
    expect(await post(secret)).toBe(204);
    await waitFor(() => output().includes('reward_link/é'), 'the event');
  });

  it('rejects a delivery without the headers of a signature, and an old one', async () => {
    const file = join(ROOT, 'tools/demo/test', `.${process.pid}-${name}`);
    writeFileSync(file, blocksOf(language)[nth]!);
    closers.push(() => rmSync(file, { force: true }));
    const [secret, port] = [newWebhookSecret(), String(await freePort())];
    run(command, [...options, file], { WEBHOOK_SECRET: secret, PORT: port });
    const body = JSON.stringify(event);
    const post = async (headers: Record<string, string>) =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
    await waitFor(async () => (await post({}).catch(() => 0)) > 0, 'the receiver', 60_000);
    expect(await post({})).toBe(400);
    const signed = webhookHeaders([secret], event.id, Date.now(), body);
    expect(await post({ ...signed, 'webhook-timestamp': 'now' })).toBe(400);
    expect(await post(webhookHeaders([secret], event.id, Date.now() - 301_000, body))).toBe(400);
    expect(await post(signed)).toBe(204);
  });
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('npm run listen', () => {
  it('forwards the events of an account, signed with the secret that it prints', async () => {
    const keys: unknown[] = [];
    const events = await serve((request, response) => {
      keys.push(request.headers['x-api-key']);
      const isFirst = !request.url!.includes('cursor=');
      if (!isFirst) return;
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ data: [event], next_cursor: 'c1', has_more: false }));
    });
    const received: { headers: Record<string, string>; body: string }[] = [];
    const receiver = await serve(async (request, response) => {
      received.push({ headers: request.headers as Record<string, string>, body: await text(request) });
      response.writeHead(204).end();
    });
    const stack = join(folder(), 'stack.json');
    const accounts = ['one', 'two'].map((id) => ({ id, userKey: `key-of-${id}` }));
    writeFileSync(stack, JSON.stringify({ hosts: { events }, accounts }));
    const listen = (...args: string[]) =>
      run(process.execPath, [...TSX, 'tools/demo/src/listen.ts', ...args], { STACK_FILE: stack });

    const { output } = listen('--forward', `${receiver}/hook`, '--account', 'two');
    await waitFor(() => output().includes('-> 204'), 'the forwarded event', 60_000);
    const secret = /^Secret: (whsec_\S+)$/m.exec(output())![1]!;
    expect(new Webhook(secret).verify(received[0]!.body, received[0]!.headers)).toEqual(event);
    expect(keys[0]).toBe('key-of-two');

    const wrong = listen('--forward', 'nowhere');
    expect(await once(wrong.process, 'close')).toEqual([2, null]);
    expect(wrong.output()).toContain('--forward must be');
    const unknown = listen('--forward', receiver, '--account', 'three');
    expect(await once(unknown.process, 'close')).toEqual([1, null]);
    expect(unknown.output()).toContain('Its accounts are one, two');
  });
});
