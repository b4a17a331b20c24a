import { characters, fitsCurrency, isCountry, isCurrency, isStorableText } from '@perkway/domain';
import type { Card } from '../cards/card-vault.js';

/** One row of a load before validation. All values are strings if it comes from CSV. */
export type RawRow = Partial<Record<(typeof COLUMNS)[number], unknown>>;
export const COLUMNS = [
  'code',
  'pin',
  'denomination',
  'currency',
  'country',
  'valid_until',
  'batch',
] as const;

export interface CardRow extends Card {
  /** Canonical decimal string, such as `12.5`. */
  denomination: string;
  currency: string;
  country: string;
  /** `YYYY-MM-DD`. */
  valid_until?: string;
  batch?: string;
}

/** Why a row was not loaded. */
export type RowProblem =
  | 'ROW_INVALID'
  | 'CODE_INVALID'
  | 'PIN_INVALID'
  | 'DENOMINATION_INVALID'
  | 'CURRENCY_INVALID'
  | 'COUNTRY_INVALID'
  | 'VALID_UNTIL_INVALID'
  | 'BATCH_INVALID';

const MAX_LENGTH = 255;
export const MAX_BATCH = 100;
/** Allows at least as many decimals as any currency has. */
const DENOMINATION = /^\d{1,10}(\.\d{1,4})?$/;

/**
 * Decoding replaces invalid UTF-8 with U+FFFD, which would turn one code into another. Invisible characters are
 * rejected too: no shop prints them on a card.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\uFFFD]/u;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_LENGTH && isStorableText(value) && !INVISIBLE.test(value);

export const isBatch = (value: unknown): value is string => isText(value) && characters(value) <= MAX_BATCH;

/** Validates one row of a load. Trims white space around values. */
export function readCardRow(raw: RawRow, now = Date.now): CardRow | RowProblem {
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
  const validUntil = trimmed(raw.valid_until) ?? '';
  if (validUntil !== '' && !(isDate(validUntil) && validUntil >= utcDay(now()))) return 'VALID_UNTIL_INVALID';
  const batch = trimmed(raw.batch) ?? '';
  if (!isBatch(batch)) return 'BATCH_INVALID';
  return {
    code,
    ...(pin === '' ? {} : { pin }),
    denomination: String(denomination),
    currency,
    country,
    ...(validUntil === '' ? {} : { valid_until: validUntil }),
    ...(batch === '' ? {} : { batch }),
  };
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const utcDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Returns whether the value is a day that exists, as `YYYY-MM-DD`. */
export const isDate = (value: unknown): value is string => {
  const time = typeof value === 'string' && DATE.test(value) ? Date.parse(value) : NaN;
  return !Number.isNaN(time) && utcDay(time) === value;
};

const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);
