export { Keyring, parseKeyring } from './keyring.js';
export { keyringVariable } from './keyring-variable.js';
export * from './link-token.js';
export * from './outreach-token.js';
export * from './payload-token.js';
export * from './reward-token.js';
export * from './secrets.js';
export * from './webhook-signature.js';
