import type { FastifyInstance } from 'fastify';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Counter, type Registry } from 'prom-client';

/** What the connections of one process may cost. */
export interface ConnectionLimits {
  /** Connections at once. */
  most: number;
  /** A connection has said this long after it was opened what it wants, and a head has come as a whole. */
  headWithinMs: number;
  /** Bytes of answers that may wait for their readers, all together. */
  unreadBytes: number;
  /** How long they may wait, and a second more for each `slowestBytes` of them. */
  unreadForMs: number;
  slowestBytes: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  most: 10_000,
  headWithinMs: 15_000,
  unreadBytes: 64 * 1024 ** 2,
  unreadForMs: 30_000,
  slowestBytes: 16 * 1024,
};

/** After it begins to close, or when there is no more room, a connection on which nothing was ever said is dropped. */
const SILENCE_LIMIT_MS = 1_000;
const CLOSE_IDLE_EVERY_MS = 50;
const LOOK_EVERY_MS = 500;

/** How an answer goes: what its reader has taken, and since when it is no more. */
interface Unread {
  taken: number;
  inPiece: number;
  since: number;
}

/** Bytes of the piece that is being written which the system has not taken. Node itself tells of whole pieces only. */
const leftInPiece = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0;

/** Holds a server to its limits, and lets it close while clients would keep their connections. */
export function limitConnections(
  fastify: FastifyInstance,
  registry: Registry,
  limits: ConnectionLimits,
): void {
  const { server } = fastify;
  const opened = new Map<Socket, number>();
  server.on('connection', (socket) => {
    opened.set(socket, Date.now());
    socket.once('close', () => opened.delete(socket));
  });
  const cut = new Counter({
    name: 'http_connections_cut_total',
    help: 'Connections that were closed because answers were not read, or because there was no room for another one',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  for (const reason of ['unread', 'room']) cut.inc({ reason }, 0);

  const dropSilent = () => {
    const before = Date.now() - SILENCE_LIMIT_MS;
    for (const [socket, at] of opened) if (socket.bytesRead === 0 && at <= before) socket.destroy();
  };
  makeRoom(server, limits.most, () => {
    cut.inc({ reason: 'room' });
    server.closeIdleConnections();
    dropSilent();
  });
  closeConnectionsAsTheyBecomeIdle(fastify, dropSilent);

  const unread = new UnreadAnswers(limits);
  const looking = setInterval(() => {
    for (const socket of unread.overdue(opened.keys(), Date.now())) {
      cut.inc({ reason: 'unread' });
      // What the system holds for the reader goes with it.
      socket.resetAndDestroy();
    }
  }, LOOK_EVERY_MS).unref();
  server.once('close', () => clearInterval(looking));
}

/** Whoever comes when all places are taken is refused; what uses its place for nothing goes then. */
function makeRoom(server: Server, most: number, closeUnused: () => void) {
  server.maxConnections = most;
  let at = 0;
  server.on('drop', () => {
    if (Date.now() - at < SILENCE_LIMIT_MS) return;
    at = Date.now();
    closeUnused();
  });
}

/**
 * A closing server drops the connections that are idle at that moment only; one that is still answering would stay
 * open for as long as its client likes, and the drain would wait for it. One that was opened ahead of any request counts
 * as busy for Node: it gets a moment to say what it came for.
 */
function closeConnectionsAsTheyBecomeIdle(fastify: FastifyInstance, dropSilent: () => void) {
  const { server } = fastify;
  fastify.addHook('preClose', (done) => {
    const closing = Date.now();
    const timer = setInterval(() => {
      server.closeIdleConnections();
      if (Date.now() - closing >= SILENCE_LIMIT_MS) dropSilent();
    }, CLOSE_IDLE_EVERY_MS).unref();
    server.once('close', () => clearInterval(timer));
    done();
  });
}

/**
 * An answer that nobody reads stays in memory, and so does what it is made from. Node has a limit for connections on
 * which nothing happens at all, which would end slow handlers too; this looks only at what waits for a reader.
 */
class UnreadAnswers {
  private readonly waiting = new Map<Socket, Unread>();

  constructor(private readonly limits: ConnectionLimits) {}

  /** @returns those to cut off: for too long, or, when there is too much of it, those that wait longest */
  overdue(sockets: Iterable<Socket>, now: number): Socket[] {
    const stuck: { socket: Socket; length: number; since: number }[] = [];
    let all = 0;
    const before = new Map(this.waiting);
    this.waiting.clear();
    for (const socket of sockets) {
      const length = socket.writableLength;
      if (length === 0) continue;
      all += length;
      const taken = socket.bytesWritten - length;
      const inPiece = leftInPiece(socket);
      const known = before.get(socket);
      const isStuck = known?.taken === taken && inPiece >= known.inPiece;
      this.waiting.set(socket, isStuck ? known : { taken, inPiece, since: now });
      if (isStuck) stuck.push({ socket, length, since: known.since });
    }
    const { unreadBytes, unreadForMs, slowestBytes } = this.limits;
    stuck.sort((one, other) => one.since - other.since);
    return stuck
      .filter(({ length, since }) => {
        const isLate = now - since > unreadForMs + (length / slowestBytes) * 1_000;
        if (!isLate && all <= unreadBytes) return false;
        all -= length;
        return true;
      })
      .map(({ socket }) => socket);
  }
}
