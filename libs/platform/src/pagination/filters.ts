import { ApiQuery } from '@nestjs/swagger';
import { CALLER_ID_PATTERN, invalidField, isCallerId, lastOf } from '@perkway/domain';
import { requireCallerId } from '../errors/caller-id.js';
import { isText } from '../errors/is-text.js';
import type { ListQuery } from './keyset-paginator.js';

const MAX_SEARCH = 200;
/** This many ids of 100 characters fit into the URL of a request. */
const MAX_IDS = 100;

/** Returns the `q` of a list, for `Conditions.search`; undefined matches all. @throws ApiError VALIDATION_FAILED */
export function searchOf(query: ListQuery): string | undefined {
  const given = lastOf(query['q']);
  if (given === undefined || given === '') return undefined;
  if (!isText(given, 1, MAX_SEARCH))
    throw invalidField('q', `must be a string of at most ${MAX_SEARCH} characters`);
  return given;
}

/** Returns a filter of a list that is an id, such as `owner`. @throws ApiError VALIDATION_FAILED */
export function idFilterOf(query: ListQuery, name: string): string | undefined {
  const given = lastOf(query[name]);
  return given === undefined ? undefined : requireCallerId(given, name);
}

/** Returns the `ids` of a list. @throws ApiError VALIDATION_FAILED */
export function idsOf(query: ListQuery): string[] | undefined {
  const given = lastOf(query['ids']);
  if (given === undefined) return undefined;
  const ids = typeof given === 'string' ? given.split(',') : [];
  if (ids.length < 1 || ids.length > MAX_IDS || !ids.every(isCallerId))
    throw invalidField('ids', `must be 1 to ${MAX_IDS} ids, separated by commas`);
  return ids;
}

/** @param where the searched columns: "the id or name" */
export const ApiSearch = (where: string) =>
  ApiQuery({
    name: 'q',
    required: false,
    description: `Only items with this text in ${where}, ignoring case`,
    schema: { type: 'string', maxLength: MAX_SEARCH },
  });

export const ApiIds = () =>
  ApiQuery({
    name: 'ids',
    required: false,
    description: `Only items with these ids, at most ${MAX_IDS}, separated by commas`,
    schema: { type: 'string', maxLength: MAX_IDS * 101 - 1 },
  });

const apiIdFilter = (name: string, description: string) =>
  ApiQuery({ name, required: false, description, schema: { type: 'string', pattern: CALLER_ID_PATTERN } });

export const ApiPerk = () => apiIdFilter('perk_id', 'Only items that contain this perk');
export const ApiOwner = () => apiIdFilter('owner', 'Only items of this account');
