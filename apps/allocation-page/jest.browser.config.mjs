import { preset } from '../../jest.preset.mjs';

/** The built page in a real browser, by itself because it needs Chromium: `npm run test:browser`. */
export default {
  ...preset('allocation-page in a browser'),
  testMatch: ['<rootDir>/test/browser/*.browser-spec.ts'],
  globalSetup: '<rootDir>/test/browser/global-setup.mjs',
};
