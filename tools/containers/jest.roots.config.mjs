import { preset } from '../../jest.preset.mjs';

/** `npm run test:roots`: tests of image roots, for machines that cannot run a Docker engine. */
export default {
  ...preset('roots'),
  testMatch: ['<rootDir>/test/roots/*.roots-spec.ts'],
  testTimeout: 900_000,
  maxWorkers: 1,
};
