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
  const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  closers.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  return { process: child, output: () => output };
}

const codeOf = (language: string): string => {
  const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(page)![1]!;
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'perkway-webhooks-'));
  closers.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe.each([
  ['ts', 'receiver.ts', process.execPath, TSX],
  ['python', 'receiver.py', 'python3', []],
])('the %s receiver of docs/webhooks.md', (language, name, command, options) => {
  it('accepts each signed event once, and rejects others', async () => {
    const file = join(ROOT, 'tools/demo/test', `.${process.pid}-${name}`);
    writeFileSync(file, codeOf(language));
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
