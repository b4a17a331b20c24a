export * from './load.js';
export * from './random.js';
export * from './reckoning.js';
export * from './trial-fleet.js';
export * from './verdict.js';
