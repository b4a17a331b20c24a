import { tier } from './jest.preset.mjs';

/** `npm run test:fleet`: tests that start several processes of built apps, several brokers or a standby, and mostly wait. */
export default tier(['fleet-spec'], { maxWorkers: 2 });
