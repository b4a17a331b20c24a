import { tier } from '../../jest.preset.mjs';

/** `npm run test:containers`: tests of the images and of the stack in containers, which need a Docker engine. */
export default tier(['containers-spec'], {
  globalSetup: '<rootDir>/tools/containers/test/containers/global-setup.mjs',
  globalTeardown: '<rootDir>/tools/containers/test/containers/global-teardown.mjs',
  testTimeout: 600_000,
  maxWorkers: 1,
});
