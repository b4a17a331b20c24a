import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { readCommandLine } from '@perkway/command-line';

readCommandLine(
  `npm run example:dashboard

Serves the dashboard of the first demo account of the running stack on DASHBOARD_PORT (4020). The API key stays in this process;
the page gets short-lived tokens.`,
  {},
);

interface StackFile {
  hosts: { token: string; query: string };
  accounts: { id: string; userKey: string }[];
}

const PAGE = fileURLToPath(new URL('../page', import.meta.url));
const PORT = Number(process.env.DASHBOARD_PORT ?? 4020);
const stackFile = process.env.STACK_FILE || '.local/stack.json';

function readStack(): StackFile {
  try {
    return JSON.parse(readFileSync(stackFile, 'utf8')) as StackFile;
  } catch {
    process.stderr.write(`${stackFile} does not exist. Run npm start first.\n`);
    process.exit(1);
  }
}
const { hosts, accounts } = readStack();
const [{ id, userKey }] = accounts as [StackFile['accounts'][number]];

const { output } = await build({
  input: join(PAGE, 'dashboard.ts'),
  platform: 'browser',
  tsconfig: join(PAGE, 'tsconfig.json'),
  output: { format: 'es', minify: true },
  write: false,
});

const FILES: Record<string, [type: string, text: string]> = {
  '/': ['text/html', readFileSync(join(PAGE, 'index.html'), 'utf8')],
  '/dashboard.css': ['text/css', readFileSync(join(PAGE, 'dashboard.css'), 'utf8')],
  '/dashboard.js': ['text/javascript', output[0].code],
};

const send = (response: ServerResponse, status: number, type: string, text: string) =>
  response
    .writeHead(status, {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self' ${new URL(hosts.query).origin}`,
    })
    .end(text);

/** A real application would authenticate the user first. */
async function sendToken(response: ServerResponse): Promise<void> {
  const reply = await fetch(`${hosts.token}/cube/token`, {
    headers: { 'x-api-key': userKey },
    signal: AbortSignal.timeout(10_000),
  });
  send(response, reply.ok ? 200 : 502, 'application/json', reply.ok ? await reply.text() : '{}');
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://dashboard');
  const file = FILES[pathname];
  if (file) send(response, 200, ...file);
  else if (pathname === '/settings')
    send(response, 200, 'application/json', JSON.stringify({ queryUrl: hosts.query }));
  else if (pathname === '/token')
    sendToken(response).catch(() => send(response, 502, 'application/json', '{}'));
  else send(response, 404, 'text/plain', 'Not found');
});
server.listen(PORT, '127.0.0.1', () =>
  process.stdout.write(`Dashboard of ${id}: http://127.0.0.1:${PORT}\n`),
);
