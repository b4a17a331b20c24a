import type { FastifyInstance } from 'fastify';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Counter, type Registry } from 'prom-client';

/** Limits of the connections of one process. */
export interface ConnectionLimits {
  /** Maximum open connections. */
  maxConnections: number;
  /** Deadline for the first byte, and for a complete request head, after a connection opens. */
  headWithinMs: number;
  /** Maximum bytes of unread responses, of all connections together. */
  unreadBytes: number;
  /** How long a response may stay unread, plus one second for each `minBytesPerSecond` bytes that are unread. */
  unreadForMs: number;
  minBytesPerSecond: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 10_000,
  headWithinMs: 15_000,
  unreadBytes: 64 * 1024 ** 2,
  unreadForMs: 30_000,
  minBytesPerSecond: 16 * 1024,
};

/** Grace period for connections that never sent anything, while closing or when the process is full. */
const SILENCE_LIMIT_MS = 1_000;
const CLOSE_IDLE_EVERY_MS = 50;
const CHECK_INTERVAL_MS = 500;

/** Progress of a response: bytes that the reader has taken, and when it last took any. */
interface Unread {
  taken: number;
  leftInChunk: number;
  since: number;
}

/** Bytes of the current chunk that the system has not taken. Node reports whole chunks only. */
const leftInChunkOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0;

/** Enforces the connection limits, and lets the server close although clients keep their connections alive. */
export function limitConnections(
  fastify: FastifyInstance,
  registry: Registry,
  limits: ConnectionLimits,
): void {
  const { server } = fastify;
  const opened = new Map<Socket, number>();
  /** Runs only while there are connections, so that it does not wake an idle process. */
  let checks: NodeJS.Timeout | undefined;
  server.on('connection', (socket) => {
    opened.set(socket, Date.now());
    checks ??= setInterval(closeUnread, CHECK_INTERVAL_MS).unref();
    socket.once('close', () => opened.delete(socket));
  });
  const cut = new Counter({
    name: 'http_connections_cut_total',
    help: 'Connections closed because responses were not read, or because there was no room for another one',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  for (const reason of ['unread', 'room']) cut.inc({ reason }, 0);

  const dropSilent = () => {
    const before = Date.now() - SILENCE_LIMIT_MS;
    for (const [socket, at] of opened) if (socket.bytesRead === 0 && at <= before) socket.destroy();
  };
  makeRoom(server, limits.maxConnections, () => {
    cut.inc({ reason: 'room' });
    server.closeIdleConnections();
    dropSilent();
  });
  closeConnectionsAsTheyBecomeIdle(fastify, dropSilent);

  const unread = new UnreadResponses(limits);
  const closeUnread = () => {
    for (const socket of unread.overdue(opened.keys(), Date.now())) {
      cut.inc({ reason: 'unread' });
      // Resets, so that the system drops the data that it has buffered for the reader.
      socket.resetAndDestroy();
    }
    if (opened.size === 0) {
      clearInterval(checks);
      checks = undefined;
    }
  };
  server.once('close', () => clearInterval(checks));
}

/** Rejects new connections while the process is full, and closes unused ones to make room for the next. */
function makeRoom(server: Server, maxConnections: number, closeUnused: () => void) {
  server.maxConnections = maxConnections;
  let at = 0;
  server.on('drop', () => {
    if (Date.now() - at < SILENCE_LIMIT_MS) return;
    at = Date.now();
    closeUnused();
  });
}

/**
 * A closing server drops only the connections that are idle at that moment. One that is responding would stay open as
 * long as its client likes and block the drain. Node counts a connection without a request as busy, so it gets a
 * grace period.
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
 * Finds connections whose clients do not read their responses, which stay in memory meanwhile. Node's own timeout would
 * also end slow handlers; this check counts only time spent waiting for the reader.
 */
class UnreadResponses {
  private readonly waiting = new Map<Socket, Unread>();

  constructor(private readonly limits: ConnectionLimits) {}

  /**
   * @returns connections to close: those past their deadline, or the longest-waiting ones when too many bytes are
   * unread
   */
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
      const leftInChunk = leftInChunkOf(socket);
      const known = before.get(socket);
      const isStuck = known?.taken === taken && leftInChunk >= known.leftInChunk;
      this.waiting.set(socket, isStuck ? known : { taken, leftInChunk, since: now });
      if (isStuck) stuck.push({ socket, length, since: known.since });
    }
    const { unreadBytes, unreadForMs, minBytesPerSecond } = this.limits;
    stuck.sort((one, other) => one.since - other.since);
    return stuck
      .filter(({ length, since }) => {
        const isLate = now - since > unreadForMs + (length / minBytesPerSecond) * 1_000;
        if (!isLate && all <= unreadBytes) return false;
        all -= length;
        return true;
      })
      .map(({ socket }) => socket);
  }
}
