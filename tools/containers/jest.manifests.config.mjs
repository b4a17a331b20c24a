import { preset } from '../../jest.preset.mjs';

/** `npm run test:manifests`: tests of the rendered manifests, separate because they download kubectl and schemas. */
export default {
  ...preset('manifests'),
  testMatch: ['<rootDir>/test/manifests/*.manifests-spec.ts'],
  testTimeout: 240_000,
  globalSetup: undefined,
  globalTeardown: undefined,
  maxWorkers: 1,
};
