import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';
import type { Target } from './target.js';

const ANSWER_WITHIN_MS = 30_000;
const MOST_AT_ONCE = 200;
const TICK_MS = 20;
/** What is refused at once is a flood of connections otherwise, which is not what is tried by holding them. */
const REOPENED_AFTER_MS = 1_000;

export interface HostileRequest {
  app: AppName;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}
export interface HostileAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** What came of an attack. */
export interface Outcome {
  /** How often, by app and status; `cut` for connections that were ended or refused. */
  answers: Record<string, number>;
  /** What should not have been. */
  breaches: string[];
  /** Milliseconds of a processor that it took whoever attacked. */
  cpuMs?: number;
}

/** Somebody who means harm, at one address, and what they are answered. */
export class HostileClient {
  readonly outcome: Outcome = { answers: {}, breaches: [] };
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 50 });
  private readonly turns = new Map<AppName, number>();

  constructor(
    private readonly target: Target,
    /** Of documentation, so nobody's. */
    private readonly address: string,
  ) {}

  count(what: string): void {
    this.outcome.answers[what] = (this.outcome.answers[what] ?? 0) + 1;
  }

  counted(what: string): number {
    return this.outcome.answers[what] ?? 0;
  }

  breach(what: string): void {
    const { breaches } = this.outcome;
    if (!breaches.includes(what)) breaches.push(what);
  }

  /** Each of the replicas in turn. */
  portOf(app: AppName): number {
    const ports = this.target.ports[app];
    const turn = this.turns.get(app) ?? 0;
    this.turns.set(app, turn + 1);
    return ports[turn % ports.length]!;
  }

  /** Undefined where there was no answer. 5xx is a breach whoever asks. */
  async ask({ app, path, method, headers, body }: HostileRequest): Promise<HostileAnswer | undefined> {
    const answer = await new Promise<HostileAnswer | undefined>((resolve) => {
      const sent = request({
        host: '127.0.0.1',
        port: this.portOf(app),
        path,
        method,
        agent: this.agent,
        headers: { 'x-forwarded-for': this.address, ...headers },
        timeout: ANSWER_WITHIN_MS,
        // Whatever it holds.
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
    this.count(`${app} ${answer?.status ?? 'cut'}`);
    if (answer && answer.status >= 500)
      this.breach(`${app} answers ${answer.status}: ${answer.text.slice(0, 160)}`);
    return answer;
  }

  /** Open loop: so many a second whether they are answered or not, but no more than a few hundred at once. */
  async flood(perSecond: number, ms: number, make: (index: number) => Promise<unknown>): Promise<void> {
    const began = performance.now();
    const work = new Set<Promise<unknown>>();
    for (let sent = 0, now = began; now - began < ms; now = performance.now()) {
      const due = ((now - began) / 1_000) * perSecond;
      for (; sent < due; sent += 1) {
        if (work.size >= MOST_AT_ONCE) continue;
        const done: Promise<unknown> = make(sent).finally(() => work.delete(done));
        work.add(done);
      }
      await sleep(TICK_MS);
    }
    await Promise.all(work);
    this.agent.destroy();
  }

  /**
   * Connections that are kept for a while, each replaced when the server ends it.
   * @param live what one of them does when it is open
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
    this.outcome.answers.held = sockets.size;
    isOver = true;
    for (const socket of sockets) socket.destroy();
  }
}
