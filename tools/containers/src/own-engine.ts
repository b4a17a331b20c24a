import { isAlive, run } from '@perkway/local-servers';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 60_000;
const BRIDGE = 'perkway0';
const BRIDGE_ADDRESS = '172.31.250.1/24';
const BRIDGE_LIMIT_MS = 900_000;
/** dockerd enables IP forwarding; `stop` restores the setting. */
const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

export interface OwnEngine {
  /** A value for DOCKER_HOST. */
  socket: string;
  /** Stops the engine, and removes its data, bridges and firewall rules. */
  stop: () => Promise<void>;
}

/** Starts a dockerd with its own data, socket and bridge; needs root. @throws Error with the last line of its log */
export async function startOwnEngine(): Promise<OwnEngine> {
  await takeBridge();
  const folder = mkdtempSync(join(tmpdir(), 'perkway-engine-'));
  const socket = join(folder, 'docker.sock');
  const logFile = join(folder, 'dockerd.log');
  const rules = await run('iptables-save', []);
  const forwarding = readFileSync(FORWARDING, 'utf8');
  const daemon = launch(folder, socket, logFile);
  const stop = async () => {
    await end(daemon);
    await restore(rules);
    writeFileSync(FORWARDING, forwarding);
    await run('ip', ['link', 'delete', BRIDGE]);
    rmSync(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + START_LIMIT_MS;
  while (!existsSync(socket) || !(await responds(socket))) {
    if (daemon.exitCode === null && Date.now() < deadline) {
      await sleep(200);
      continue;
    }
    const reason = readFileSync(logFile, 'utf8').trim().split('\n').at(-1);
    await stop();
    throw new Error(`dockerd does not start on this machine: ${reason}`);
  }
  return { socket: `unix://${socket}`, stop };
}

function launch(folder: string, socket: string, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const args = [
    // If this process is killed, the engine stops its containers and itself.
    ...['--pdeathsig', 'TERM', 'dockerd', '--host', `unix://${socket}`, '--bridge', BRIDGE],
    ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')],
    ...['--pidfile', join(folder, 'dockerd.pid')],
  ];
  return spawn('setpriv', args, { stdio: ['ignore', log, log], detached: true });
}

const responds = (socket: string): Promise<boolean> =>
  run('docker', ['--host', `unix://${socket}`, 'version']).then(
    () => true,
    () => false,
  );

/** The bridge is also a lock: two engines at once would remove each other's firewall rules. */
async function takeBridge(): Promise<void> {
  const deadline = Date.now() + BRIDGE_LIMIT_MS;
  const add = () =>
    run('ip', ['link', 'add', BRIDGE, 'type', 'bridge']).then(
      () => true,
      (error: Error) => {
        if (existsSync(`/sys/class/net/${BRIDGE}`)) return false;
        throw new Error(`cannot create a bridge on this machine: ${error.message}`);
      },
    );
  while (!(await add())) {
    const alias = await run('cat', [`/sys/class/net/${BRIDGE}/ifalias`]).catch(() => '');
    const owner = Number(alias.replace('pid ', ''));
    if (owner > 0 && !isAlive(owner)) await run('ip', ['link', 'delete', BRIDGE]);
    else if (Date.now() > deadline)
      throw new Error(`another engine (${alias.trim()}) uses the bridge ${BRIDGE}`);
    else await sleep(500);
  }
  await run('ip', ['link', 'set', BRIDGE, 'alias', `pid ${process.pid}`]);
  await run('ip', ['address', 'add', BRIDGE_ADDRESS, 'dev', BRIDGE]);
}

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, 'exit');
  const timer = setTimeout(() => daemon.kill('SIGKILL'), STOP_LIMIT_MS);
  daemon.kill('SIGTERM');
  await exited;
  clearTimeout(timer);
}

/** Restores the firewall rules, because an engine leaves its chains behind. */
async function restore(rules: string): Promise<void> {
  // Tables that did not exist are not in the saved rules, so flush them.
  for (const table of ['filter', 'nat', 'mangle', 'raw'].filter((name) => !rules.includes(`*${name}\n`)))
    for (const option of ['-F', '-X']) await run('iptables', ['-t', table, option]).catch(() => undefined);
  // The same for the policy that the engine set.
  if (!rules.includes('*filter\n')) await run('iptables', ['-P', 'FORWARD', 'ACCEPT']);
  await run('iptables-restore', [], { input: rules });
}
