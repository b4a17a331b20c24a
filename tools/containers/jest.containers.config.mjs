import { preset } from '../../jest.preset.mjs';

/** The images and the stack in containers, by themselves because they need an engine: `npm run test:containers`. */
export default {
  ...preset('containers'),
  testMatch: ['<rootDir>/test/containers/*.containers-spec.ts'],
  globalSetup: '<rootDir>/test/containers/global-setup.mjs',
  globalTeardown: '<rootDir>/test/containers/global-teardown.mjs',
  testTimeout: 600_000,
  maxWorkers: 1,
};
