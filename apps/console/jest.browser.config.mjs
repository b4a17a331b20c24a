import { preset } from '../../jest.preset.mjs';

/** Tests the built console in a real browser. Separate because it needs Chromium: `npm run test:browser`. */
export default {
  ...preset('console in a browser'),
  testMatch: ['<rootDir>/test/browser/*.browser-spec.ts'],
};
