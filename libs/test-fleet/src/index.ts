export * from './load.js';
export * from './local-stack.js';
export * from './random.js';
export * from './read-resource.js';
export * from './reconciliation.js';
export * from './revocation.js';
export * from './test-fleet.js';
export * from './verdict.js';
