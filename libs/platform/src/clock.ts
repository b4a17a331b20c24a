/** The time in milliseconds, for decisions that depend on it. Tests replace it. */
export abstract class Clock {
  abstract now(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
