import { tier } from '../../jest.preset.mjs';

/** `npm run canary`: plants secrets and personal data in the built stack and searches for them everywhere. */
export default tier(['canary-spec'], {
  testTimeout: 600_000,
  // Each file has a stack of its own and mostly waits.
  maxWorkers: 2,
});
