export * from './database-urls.js';
export * from './environment.js';
export * from './fleet.js';
export * from './secrets.js';
export * from './stack-file.js';
