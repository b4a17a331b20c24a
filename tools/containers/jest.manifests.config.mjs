import { preset } from '../../jest.preset.mjs';

/** The rendered manifests, by themselves because kubectl and the schemas are downloaded: `npm run test:manifests`. */
export default {
  ...preset('manifests'),
  testMatch: ['<rootDir>/test/manifests/*.manifests-spec.ts'],
  testTimeout: 240_000,
  globalSetup: undefined,
  globalTeardown: undefined,
  maxWorkers: 1,
};
