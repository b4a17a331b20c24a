/** `npm run test:browser`: tests that need Chromium, and are therefore not part of `npm test`. */
export default {
  projects: ['<rootDir>/{apps,examples,tools}/*/jest.browser.config.mjs'],
  testTimeout: 60_000,
  // Each file has its own browser, broker and apps.
  maxWorkers: 2,
};
