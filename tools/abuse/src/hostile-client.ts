import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';
import type { Target } from './target.js';

const RESPONSE_TIMEOUT_MS = 30_000;
const MAX_CONCURRENT = 200;
const TICK_MS = 20;
/** Wait before replacing a closed connection. Without it, holding connections would become a flood of new ones. */
const REOPENED_AFTER_MS = 1_000;

export interface HostileRequest {
  app: AppName;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}
export interface HostileResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** The result of an attack. */
export interface Outcome {
  /** Number of responses by app and status; `cut` counts connections that were closed or refused. */
  responses: Record<string, number>;
  /** Violated expectations. */
  breaches: string[];
  /** CPU time of the attacker in milliseconds. */
  cpuMs?: number;
}

/** An attacker at one address, with the responses it gets. */
export class HostileClient {
  readonly outcome: Outcome = { responses: {}, breaches: [] };
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 50 });
  private readonly turns = new Map<AppName, number>();

  constructor(
    private readonly target: Target,
    /** From a range for documentation, so nobody's. */
    private readonly address: string,
  ) {}

  count(what: string): void {
    this.outcome.responses[what] = (this.outcome.responses[what] ?? 0) + 1;
  }

  counted(what: string): number {
    return this.outcome.responses[what] ?? 0;
  }

  breach(what: string): void {
    const { breaches } = this.outcome;
    if (!breaches.includes(what)) breaches.push(what);
  }

  /** Returns the ports of the replicas in turn. */
  portOf(app: AppName): number {
    const ports = this.target.ports[app];
    const turn = this.turns.get(app) ?? 0;
    this.turns.set(app, turn + 1);
    return ports[turn % ports.length]!;
  }

  /** Sends a request. Returns undefined without a response. Any 5xx is a breach. */
  async request({ app, path, method, headers, body }: HostileRequest): Promise<HostileResponse | undefined> {
    const response = await new Promise<HostileResponse | undefined>((resolve) => {
      const sent = request({
        host: '127.0.0.1',
        port: this.portOf(app),
        path,
        method,
        agent: this.agent,
        headers: { 'x-forwarded-for': this.address, ...headers },
        timeout: RESPONSE_TIMEOUT_MS,
        // Accept any response headers.
        insecureHTTPParser: true,
      });
      sent.on('timeout', () => sent.destroy());
      sent.on('error', () => resolve(undefined));
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          if (text.length < 500) text += chunk;
        });
        response.on('error', () => resolve(undefined));
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
      });
      sent.end(body);
    });
    this.count(`${app} ${response?.status ?? 'cut'}`);
    if (response && response.status >= 500)
      this.breach(`${app} responds with ${response.status}: ${response.text.slice(0, 160)}`);
    return response;
  }

  /** Starts `perSecond` requests a second without waiting for responses (open loop), but no more than 200 at once. */
  async flood(perSecond: number, ms: number, make: (index: number) => Promise<unknown>): Promise<void> {
    const began = performance.now();
    const work = new Set<Promise<unknown>>();
    for (let sent = 0, now = began; now - began < ms; now = performance.now()) {
      const due = ((now - began) / 1_000) * perSecond;
      for (; sent < due; sent += 1) {
        if (work.size >= MAX_CONCURRENT) continue;
        const done: Promise<unknown> = make(sent).finally(() => work.delete(done));
        work.add(done);
      }
      await sleep(TICK_MS);
    }
    await Promise.all(work);
    this.agent.destroy();
  }

  /**
   * Holds connections open for a while and replaces each one that the server closes.
   * @param live called with each open connection
   */
  async hold(
    apps: AppName[],
    connections: number,
    ms: number,
    live: (socket: Socket) => void,
  ): Promise<void> {
    let isOver = false;
    const sockets = new Set<Socket>();
    const open = (app: AppName) => {
      const socket = connect(this.portOf(app), '127.0.0.1', () => live(socket));
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        if (isOver) return;
        this.count(`${app} cut`);
        setTimeout(() => isOver || open(app), REOPENED_AFTER_MS);
      });
    };
    for (let opened = 0; opened < connections; opened += 1) {
      open(apps[opened % apps.length]!);
      if (opened % 100 === 99) await sleep(TICK_MS);
    }
    await sleep(ms);
    this.outcome.responses.held = sockets.size;
    isOver = true;
    for (const socket of sockets) socket.destroy();
  }
}
