import { Engine } from '../../src/engine.js';

let started: Promise<Engine> | undefined;
/** Returns the engine that the global set-up started or found. */
export const engine = (): Promise<Engine> => (started ??= Engine.start());
