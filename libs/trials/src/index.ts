export * from './load.js';
export * from './random.js';
export * from './read-stored.js';
export * from './reckoning.js';
export * from './revocation.js';
export * from './trial-fleet.js';
export * from './verdict.js';
