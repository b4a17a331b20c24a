import { tier } from '../../jest.preset.mjs';

/** `npm run test:roots`: tests of image roots, for machines that cannot run a Docker engine. */
export default tier(['roots-spec'], {
  testTimeout: 900_000,
  maxWorkers: 1,
});
