import { preset } from '../../jest.preset.mjs';

/** Tests the deployments in a real browser. Separate because it needs Chromium: `npm run test:browser`. */
export default {
  ...preset('deployments in a browser'),
  testMatch: ['<rootDir>/test/browser/*.browser-spec.ts'],
};
