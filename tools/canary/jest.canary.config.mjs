import { preset } from '../../jest.preset.mjs';

/** Secrets and people planted in the built stack, and looked for everywhere: `npm run canary`. */
export default {
  ...preset('canaries'),
  testMatch: ['<rootDir>/test/*.canary-spec.ts'],
  testTimeout: 600_000,
  // Each file has a stack of its own, and waits much.
  maxWorkers: 2,
};
