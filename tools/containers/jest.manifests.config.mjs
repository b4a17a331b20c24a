import { tier } from '../../jest.preset.mjs';

/** `npm run test:manifests`: tests of the rendered manifests, separate because they download kubectl and schemas. */
export default tier(['manifests-spec'], {
  globalSetup: undefined,
  globalTeardown: undefined,
  testTimeout: 240_000,
  maxWorkers: 1,
});
