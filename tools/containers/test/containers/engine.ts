import { Engine } from '../../src/engine.js';

/** The tag of the images under test. */
export const VERSION = 'test';

let started: Promise<Engine> | undefined;
/** The engine that the global set-up has started or found. */
export const engine = (): Promise<Engine> => (started ??= Engine.start());
