import { useQuery } from '@tanstack/react-query';
import { formatMoment, formatMoney, formatNumber } from '../format';
import { texts } from '../texts';
import { allOf, perkway, responseOf } from './perkway';
import type { Limit, LimitUsage, LinkJob } from './types';

const t = texts.limits;

export const useLimits = () =>
  useQuery({ queryKey: ['limits'], queryFn: () => allOf(perkway.gift.listLimits({ limit: 200 })) });

/** @param isOwn whether the limit is one of the signed-in account, instead of one that an operator manages */
export const readUsage = ({ id: limitId, per }: Limit, isOwn: boolean, value: string, signal?: AbortSignal) =>
  responseOf(
    perkway.gift[isOwn ? 'getLimitUsage' : 'getStoredLimitUsage'](
      { limitId, ...(per !== 'account' && { value }) },
      { signal },
    ),
  );

/** Links that limits count. */
type Counted = Pick<LinkJob, 'pool_id' | 'campaign_id' | 'denomination' | 'currency'> & {
  /** The person who makes them; null if unknown. */
  created_by: string | null;
};

/** Returns the value for which a limit counts the links; undefined if there is none or it is unknown here. */
function valueFor({ per, only }: Limit, { pool_id, campaign_id, created_by }: Counted): string | undefined {
  if (only?.pool_id && only.pool_id !== pool_id) return undefined;
  if (only?.campaign_id && only.campaign_id !== campaign_id) return undefined;
  if (per === 'account') return '';
  if (per === 'pool_id') return pool_id;
  if (per === 'campaign_id') return campaign_id ?? undefined;
  return per === 'created_by' && created_by !== null ? `console: ${created_by}` : undefined;
}

/** Returns how many more links fit into a limit. */
function linksLeft({ links, amount }: LimitUsage, { denomination, currency }: Counted): number {
  const byCount = links ? links.limit - links.used : Infinity;
  if (amount?.currency !== currency) return byCount;
  // Rounded down, except for the noise of floating-point numbers.
  return Math.min(byCount, Math.floor((amount.limit - amount.used) / denomination + 1e-6));
}

/** Reads the usage of the limits of the signed-in account into which fewer than `wanted` more of these links fit. */
export async function shortLimits(counted: Counted, wanted: number, signal?: AbortSignal) {
  const limits = await allOf(perkway.gift.listLimits({ limit: 200 }, { signal }));
  const usages = await Promise.all(
    limits.map(async (limit) => {
      const value = valueFor(limit, counted);
      if (value === undefined) return [];
      const usage = await readUsage(limit, true, value, signal);
      return { ...usage, id: limit.id, left: linksLeft(usage, counted) };
    }),
  );
  return usages.flat().filter(({ left }) => left < wanted);
}

export const resetOf = ({ resets_at }: LimitUsage): string =>
  resets_at === null ? t.neverResets : t.resetsAt(formatMoment(resets_at));

/** Describes what a limit allows in one line. */
export function ruleOf({ links, amount, currency, period, per }: Limit): string {
  const size = [
    ...(links === null ? [] : [t.someLinks(formatNumber(links))]),
    ...(amount === null ? [] : [formatMoney(amount, currency!)]),
  ].join(t.and);
  const [name, each] = [t.periods[period].toLowerCase(), t.pers[per].toLowerCase()];
  if (period === 'total') return per === 'account' ? t.ruleOfAccountEver(size) : t.ruleEver(size, each);
  return per === 'account' ? t.ruleOfAccount(size, name) : t.rule(size, name, each);
}

/** The usage of a limit. Without a limit of links or of an amount, that member is missing, or null in Operations. */
type Used = { [Name in 'links' | 'amount']?: LimitUsage[Name] | null };

export const usedOf = ({ links, amount }: Used): string =>
  [
    ...(links ? [t.usedLinks(formatNumber(links.used), formatNumber(links.limit))] : []),
    ...(amount
      ? [t.usedAmount(formatMoney(amount.used, amount.currency), formatMoney(amount.limit, amount.currency))]
      : []),
  ].join(t.and);

/** Returns whether nothing is left of the links or of the amount that a limit allows. */
export const isUsedUp = ({ links, amount }: Used): boolean =>
  [links, amount].some((part) => part && part.used >= part.limit);
