import { Engine } from '../../src/engine.js';

/** The tag of the images under test. */
export const VERSION = 'test';

let started: Promise<Engine> | undefined;
/** Returns the engine that the global set-up started or found. */
export const engine = (): Promise<Engine> => (started ??= Engine.start());
