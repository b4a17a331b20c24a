/** What needs Chromium, and so is not part of `npm test`. */
export default {
  projects: ['<rootDir>/apps/*/jest.browser.config.mjs', '<rootDir>/examples/*/jest.browser.config.mjs'],
  testTimeout: 60_000,
  // Each file has a browser, a broker and apps of its own.
  maxWorkers: 2,
};
