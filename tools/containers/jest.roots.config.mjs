import { preset } from '../../jest.preset.mjs';

/** Roots of images without an engine, where none can start: `npm run test:roots`. */
export default {
  ...preset('roots'),
  testMatch: ['<rootDir>/test/roots/*.roots-spec.ts'],
  testTimeout: 900_000,
  maxWorkers: 1,
};
