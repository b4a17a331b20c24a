import { preset } from '../../jest.preset.mjs';

/** The built console in a real browser, by itself because it needs Chromium: `npm run test:browser`. */
export default {
  ...preset('console in a browser'),
  testMatch: ['<rootDir>/test/browser/*.browser-spec.ts'],
};
