import { fitsCurrency, isCountry, isCurrency, isStorableText } from '@perkway/domain';
import type { Card } from '../cards/card-vault.js';

/** One row of a load before validation. All values are strings if it comes from CSV. */
export type RawRow = Partial<Record<(typeof COLUMNS)[number], unknown>>;
export const COLUMNS = ['code', 'pin', 'denomination', 'currency', 'country'] as const;

export interface CardRow extends Card {
  /** Canonical decimal string, such as `12.5`. */
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
/** Allows at least as many decimals as any currency has. */
const DENOMINATION = /^\d{1,10}(\.\d{1,4})?$/;

/**
 * Decoding replaces invalid UTF-8 with U+FFFD, which would turn one code into another. Invisible characters are
 * rejected
 * too: no shop prints them on a card.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\uFFFD]/u;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_LENGTH && isStorableText(value) && !UNSEEN.test(value);

/** Validates one row of a load. Trims white space around values. */
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
