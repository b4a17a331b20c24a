export * from './caller.js';
export * from './custom-attributes.js';
export * from './errors.js';
export * from './ids.js';
export * from './iso-codes.js';
export * from './messages.js';
export * from './redirect-target.js';
export * from './tracking-events.js';
