export * from './account-directory.js';
export * from './perk-directory.js';
