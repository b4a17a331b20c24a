import { characters, isStorableText, MAX_JOURNEY_ID_LENGTH } from './ids.js';
import { lastOf } from './last-of.js';

/** Standard names, used without a prefix (specification section 2, "Custom attributes"). */
export const UTM_NAMES = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;
export type UtmName = (typeof UTM_NAMES)[number];

/** Values must be shorter than this many characters. */
export const ATTRIBUTE_VALUE_LIMIT = 255;

/**
 * The custom attributes of one interaction. `cmeta` has names without the `cmeta_` prefix, and no prototype, so that
 * any valid name (such as `__proto__`) works.
 */
export interface CustomAttributes {
  utm: Partial<Record<UtmName, string>>;
  cmeta: Record<string, string>;
}

const CMETA_NAME = /^cmeta_([A-Za-z0-9_-]+)$/;
const UTM = new Set<string>(UTM_NAMES);

const usable = (value: unknown): value is string =>
  typeof value === 'string' &&
  (value.length < ATTRIBUTE_VALUE_LIMIT || characters(value) < ATTRIBUTE_VALUE_LIMIT) &&
  isStorableText(value);

export const noAttributes = (): CustomAttributes => ({ utm: {}, cmeta: Object.create(null) });

/**
 * Reads `cmeta_*` and `utm_*` from a parsed query. A bad name or a value of 255 characters or more drops only that
 * attribute, never the request; of a repeated name the last value wins.
 */
export function readCustomAttributes(query: object | undefined): CustomAttributes {
  const found = noAttributes();
  if (!query) return found;
  for (const [name, given] of Object.entries(query)) {
    const isUtm = UTM.has(name);
    const cmeta = isUtm ? null : CMETA_NAME.exec(name);
    if (!isUtm && !cmeta) continue;
    const value: unknown = lastOf(given);
    if (!usable(value)) continue;
    if (isUtm) found.utm[name as UtmName] = value;
    else found.cmeta[cmeta![1]!] = value;
  }
  return found;
}

/** Merges the attributes; those of `own` win. */
export function mergeAttributes(carried: CustomAttributes, own: CustomAttributes): CustomAttributes {
  const merged = noAttributes();
  Object.assign(merged.utm, carried.utm, own.utm);
  for (const source of [carried.cmeta, own.cmeta])
    for (const [name, value] of Object.entries(source)) merged.cmeta[name] = value;
  return merged;
}

const isEmpty = (object: object): boolean => {
  for (const _ in object) return false;
  return true;
};

/** Returns the attributes in the form of tracking events, without empty members. */
export function asTags({ utm, cmeta }: CustomAttributes): Partial<CustomAttributes> {
  return { ...(isEmpty(utm) ? {} : { utm }), ...(isEmpty(cmeta) ? {} : { cmeta }) };
}

/** Appends the attributes as query parameters, with the prefix. */
export function appendAttributes(params: URLSearchParams, attributes: CustomAttributes): void {
  for (const [name, value] of Object.entries(attributes.utm)) params.append(name, value);
  for (const [name, value] of Object.entries(attributes.cmeta)) params.append(`cmeta_${name}`, value);
}

/** Returns true for `true` and `1`, false for anything else. Of a repeated parameter the last value wins. */
export const isTrackingDisabled = (value: unknown): boolean => {
  const last = lastOf(value);
  return last === 'true' || last === '1';
};

/** Returns the journey id as given, or undefined if it is missing, invalid or longer than 255 characters. */
export const readJourneyId = (value: unknown): string | undefined => {
  const last = lastOf(value);
  if (typeof last !== 'string' || last === '' || characters(last) > MAX_JOURNEY_ID_LENGTH) return undefined;
  return isStorableText(last) ? last : undefined;
};
