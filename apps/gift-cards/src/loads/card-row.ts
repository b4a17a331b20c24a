import { fitsCurrency, isCountry, isCurrency, isStorableText } from '@perkway/domain';
import type { Card } from '../cards/card-vault.js';

/** What a load gives for one card, before it is checked. Text where it comes from CSV. */
export type RawRow = Partial<Record<(typeof COLUMNS)[number], unknown>>;
export const COLUMNS = ['code', 'pin', 'denomination', 'currency', 'country'] as const;

export interface CardRow extends Card {
  /** Canonical decimal text, such as `12.5`. */
  denomination: string;
  currency: string;
  country: string;
}

/** Why a row was not loaded. */
export type RowProblem =
  | 'ROW_INVALID'
  | 'CODE_INVALID'
  | 'PIN_INVALID'
  | 'DENOMINATION_INVALID'
  | 'CURRENCY_INVALID'
  | 'COUNTRY_INVALID';

const MAX_LENGTH = 255;
/** At least the digits of every currency. */
const DENOMINATION = /^\d{1,10}(\.\d{1,4})?$/;

/**
 * U+FFFD stands where bytes were no UTF-8: such a code would be another code. So would one with characters that nobody
 * sees, which no shop prints on a card.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\uFFFD]/u;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_LENGTH && isStorableText(value) && !UNSEEN.test(value);

/** Checks one row of a load; white space around values does not belong to them. */
export function readCardRow(raw: RawRow): CardRow | RowProblem {
  const code = trimmed(raw.code);
  if (!isText(code) || code === '') return 'CODE_INVALID';
  const pin = trimmed(raw.pin) ?? '';
  if (!isText(pin)) return 'PIN_INVALID';
  const given = trimmed(raw.denomination);
  const text = typeof given === 'number' ? String(given) : given;
  const denomination = typeof text === 'string' && DENOMINATION.test(text) ? Number(text) : 0;
  if (denomination <= 0) return 'DENOMINATION_INVALID';
  const currency = trimmed(raw.currency);
  if (!isCurrency(currency)) return 'CURRENCY_INVALID';
  if (!fitsCurrency(denomination, currency)) return 'DENOMINATION_INVALID';
  const country = trimmed(raw.country);
  if (!isCountry(country)) return 'COUNTRY_INVALID';
  return { code, ...(pin === '' ? {} : { pin }), denomination: String(denomination), currency, country };
}

const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);
