import { tier } from '../../jest.preset.mjs';

/** `npm run test:generators`: separate because it installs the generators. */
export default tier(['generators-spec'], {
  globalSetup: undefined,
  globalTeardown: undefined,
  testTimeout: 600_000,
  maxWorkers: 1,
});
