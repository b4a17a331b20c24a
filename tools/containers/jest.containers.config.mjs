import { preset } from '../../jest.preset.mjs';

/**
 * `npm run test:containers`: tests of the images and of the stack in containers, separate because they need a Docker engine.
 */
export default {
  ...preset('containers'),
  testMatch: ['<rootDir>/test/containers/*.containers-spec.ts'],
  globalSetup: '<rootDir>/test/containers/global-setup.mjs',
  globalTeardown: '<rootDir>/test/containers/global-teardown.mjs',
  testTimeout: 600_000,
  maxWorkers: 1,
};
