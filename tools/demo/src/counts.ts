import { setTimeout as sleep } from 'node:timers/promises';

import { createPerkway, type Perkway } from '@perkway/client';
import { DemoError, type Host, type Journey, type StackAccount } from './journey.js';
import { masked } from './show.js';

/** A tracked event is normally counted within 5 s, later on a busy machine. */
export const COUNT_LIMIT_MS = 60_000;
const POLL_MS = 300;

interface Count {
  what: string;
  measure: string;
  /** Filters that select the events of this run, by member. */
  where: Record<string, string>;
  did: number;
  /** The client that requests the count. That of another account must get 0. */
  perkway: Perkway;
  counted?: number;
}

const queryOf = ({ measure, where }: Count): string => {
  const filters = Object.entries(where).map(([member, value]) => ({
    member,
    operator: 'equals',
    values: [value],
  }));
  return JSON.stringify({ measures: [measure], filters });
};

/** A client that does not print its calls, because the same queries repeat until everything is counted. */
const clientOf = ({ stack }: Journey, { userKey }: StackAccount): Perkway =>
  createPerkway({ apiKey: userKey, hosts: stack.hosts });

/** The counts to expect from the query host, for the hosts that took part. */
function expected(journey: Journey, perkway: Perkway): Count[] {
  const { did, run, stack, account } = journey;
  const marked = (cube: string): Record<string, string> => ({ [`${cube}.utm_campaign`]: run });
  const links = (state: string): Record<string, string> => ({
    'reward_links.created_by': run,
    'reward_links.state': state,
  });
  const rows: [Host[], string, string, Record<string, string>, number][] = [
    [['perks'], 'perk views', 'perk_views.count', marked('perk_views'), did.perkViews],
    [['perks', 'links'], 'perk clicks', 'perk_clicks.count', marked('perk_clicks'), did.perkClicks],
    [['boost'], 'teaser views', 'teaser_views.count', marked('teaser_views'), did.teaserViews],
    [['boost'], 'reward views', 'reward_views.count', marked('reward_views'), did.rewardViews],
    [
      ['boost'],
      'clicks in campaigns',
      'incentive_clicks.count',
      marked('incentive_clicks'),
      did.incentiveClicks,
    ],
    [['boost'], 'conversions', 'conversions.count', marked('conversions'), did.conversions],
    [['boost'], 'value of conversions', 'conversions.value', marked('conversions'), did.conversionValue],
    [['gift'], 'reward links generated', 'reward_links.count', links('generated'), did.linksGenerated],
    [
      ['gift', 'rewards'],
      'reward links revealed',
      'reward_links.count',
      links('revealed'),
      did.linksRevealed,
    ],
  ];
  const counts = rows
    .filter(([hosts]) => hosts.every((host) => stack.hosts[host]))
    .map(([, what, measure, where, did]): Count => ({ what, measure, where, did, perkway }));

  const other = stack.accounts.find(({ id }) => id !== account.id);
  if (other && stack.hosts.perks) {
    const foreign = {
      measure: 'perk_views.count',
      where: marked('perk_views'),
      did: 0,
      perkway: clientOf(journey, other),
    };
    counts.push({ what: `perk views that ${other.id} sees`, ...foreign });
  }
  return counts;
}

/**
 * Queries the query host until it has counted everything that this run did, and prints both side by side.
 * @throws DemoError if they still differ after the time limit
 */
export async function compareCounts(journey: Journey, limitMs: number): Promise<void> {
  const perkway = clientOf(journey, journey.account);
  const counts = expected(journey, perkway);
  const load = journey.at('query', '/cubejs-api/v1/load');
  journey.say(`GET ${load}?query=…`);
  journey.say(`     Authorization: ${masked(await perkway.analytics.token())}   with each query`);
  for (const query of new Set(counts.map(queryOf))) journey.say(`     ${query}`);

  const sendRequest = async (count: Count): Promise<void> => {
    const response = await count.perkway.analytics.load({ query: queryOf(count) });
    const [row] = 'data' in response && Array.isArray(response.data) ? response.data : [];
    count.counted = Number(row?.[count.measure] ?? 0);
  };
  journey.say(`repeated until everything is counted, for at most ${limitMs / 1000} s`);
  const differs = ({ did, counted }: Count): boolean => did !== counted;
  const begun = Date.now();
  for (;;) {
    await Promise.all(counts.map(sendRequest));
    if (!counts.some(differs) || Date.now() - begun > limitMs) break;
    await sleep(POLL_MS);
  }

  journey.print('');
  const line = (what: string, did: unknown, counted: unknown, verdict: string): void =>
    journey.print(
      `  ${what.padEnd(32)}${String(did).padStart(8)}${String(counted).padStart(10)}   ${verdict}`,
    );
  line(`run ${journey.run}`, 'did', 'counted', '');
  for (const count of counts)
    line(count.what, count.did, count.counted, differs(count) ? 'DIFFERENT' : 'equal');
  journey.print('');
  const wrong = counts.filter(differs);
  if (wrong.length > 0)
    throw new DemoError(
      `After ${limitMs / 1000} s the counts still differ from what was done: ` +
        `${wrong.map(({ what, did, counted }) => `${what} ${counted} instead of ${did}`).join(', ')}.`,
    );
  journey.print(`  All counts match what was done (after ${((Date.now() - begun) / 1000).toFixed(1)} s).`);
}
