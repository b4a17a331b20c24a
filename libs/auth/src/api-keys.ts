/** Entry point to generate and hash keys without loading Nest. */
export { generateApiKey } from './generate-api-key.js';
export { hashApiKey } from './hash-api-key.js';
