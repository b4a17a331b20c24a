import type { Socket } from 'node:net';

/** The flow of rows from the database to one client. Pauses while the client does not read. */
export class RowFlow {
  private socket?: Socket;
  private pausedAt?: number;
  private earlierPausesMs = 0;
  private isYielding = false;

  /** Length of the current pause in milliseconds; 0 while rows flow. */
  get pauseMs(): number {
    return this.pausedAt === undefined ? 0 : Date.now() - this.pausedAt;
  }

  /** Length of all pauses together in milliseconds. */
  get pausedMs(): number {
    return this.earlierPausesMs + this.pauseMs;
  }

  pause(): void {
    this.pausedAt ??= Date.now();
    this.apply();
  }

  resume(): void {
    this.earlierPausesMs += this.pauseMs;
    this.pausedAt = undefined;
    this.apply();
  }

  /** Controls a socket until `detach`. */
  attach(socket: Socket): void {
    this.socket = socket.on('data', this.yield);
    this.apply();
  }

  /** Leaves the socket flowing, because its connection goes back to the pool. */
  detach(): void {
    this.socket?.off('data', this.yield).resume();
    this.socket = undefined;
  }

  /** Lets other work run between chunks. Otherwise Node would read up to 2 MB, tens of thousands of rows, before it. */
  private readonly yield = (): void => {
    this.isYielding = true;
    this.apply();
    setImmediate(() => {
      this.isYielding = false;
      this.apply();
    });
  };

  private apply(): void {
    if (this.pausedAt !== undefined || this.isYielding) this.socket?.pause();
    else this.socket?.resume();
  }
}
