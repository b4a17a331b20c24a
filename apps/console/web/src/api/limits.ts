import { useQuery } from '@tanstack/react-query';
import { formatMoney, formatNumber } from '../format';
import { texts } from '../texts';
import { allOf, perkway, responseOf } from './perkway';
import type { Limit, LimitUsage } from './types';

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
