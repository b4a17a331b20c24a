import { outreach } from './boost.bench.js';
import { clicks } from './links.bench.js';
import { reads } from './perks.bench.js';
import type { Scenario } from './scenario.js';
import { tokens } from './tokens.bench.js';
import { compareTracked } from './tracked.js';

export const scenario: Scenario = {
  title: 'Regressions: every tracked path and tokens in a few short rounds, for CI',
  apps: ['token-issuer', 'analytics-query', 'perks', 'links', 'boost'],
  async run(fleet) {
    const paths = [await clicks(fleet), await outreach(fleet), await reads(fleet, 0), await tokens(fleet)];
    try {
      return await compareTracked(
        fleet,
        ['links', 'boost', 'perks'],
        paths.flatMap(({ contenders }) => contenders),
        { rounds: 3, seconds: 1 },
      );
    } finally {
      for (const { bare } of paths) bare.stop();
    }
  },
};
