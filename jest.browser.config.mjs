import { tier } from './jest.preset.mjs';

/** `npm run test:browser`: tests that need Chromium. Each file has its own browser, broker and apps. */
export default tier(['browser-spec'], { maxWorkers: 2 });
