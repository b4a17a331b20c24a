import { preset } from '../../jest.preset.mjs';

/** By itself because it installs the generators: `npm run test:generators`. */
export default {
  ...preset('generators'),
  testMatch: ['<rootDir>/test/generators/*.generators-spec.ts'],
  globalSetup: undefined,
  globalTeardown: undefined,
  testTimeout: 600_000,
  maxWorkers: 1,
};
