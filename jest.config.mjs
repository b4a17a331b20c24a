import { tier } from './jest.preset.mjs';

/** `npm test`: unit tests, and tests of one app with real servers. */
export default tier(['spec', 'e2e-spec'], {
  // More workers than cores, because tests mostly wait for servers to stop and start.
  maxWorkers: 4,
  workerIdleMemoryLimit: '1GB',
});
