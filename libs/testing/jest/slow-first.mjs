import TestSequencer from '@jest/test-sequencer';

/** Test files that take a minute or more. */
const SLOW = [
  'two-of-everything.fleet-spec',
  'whole-stack.fleet-spec',
  'cluster.fleet-spec',
  'package.fleet-spec',
  'screens.browser-spec',
  'every-figure.browser-spec',
  'work.browser-spec',
];
const isSlow = ({ path }) => SLOW.some((name) => path.includes(name));

/**
 * Starts slow files first, so that none of them runs alone at the end. Without the times of earlier runs, as in CI, Jest
 * starts large files first.
 */
export default class SlowFirst extends TestSequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => Number(isSlow(other)) - Number(isSlow(one)));
  }
}
