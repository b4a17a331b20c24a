import { preset } from '../../jest.preset.mjs';

/** Tests the built page in a real browser. Runs separately because it needs Chromium: `npm run test:browser`. */
export default {
  ...preset('allocation-page in a browser'),
  testMatch: ['<rootDir>/test/browser/*.browser-spec.ts'],
  globalSetup: '<rootDir>/test/browser/global-setup.mjs',
};
