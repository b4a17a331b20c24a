import { invalidField, lastOf } from '@perkway/domain';
import { Conditions, readTime, type ListQuery } from '@perkway/platform';

/** The kinds of objects in the audit log, each with the first path segments of the calls that change them. */
export const AUDIT_KINDS = {
  accounts: ['accounts'],
  perks: ['perks'],
  categories: ['categories'],
  'perk-collections': ['perk-collections'],
  campaigns: ['campaigns'],
  pools: ['pools'],
  limits: ['limits'],
  'reward-links': ['reward-links', 'pool'],
  'link-jobs': ['link-jobs'],
  reports: ['reports'],
  'saved-questions': ['saved-questions'],
  webhooks: ['webhooks'],
} as const;
type Kind = keyof typeof AUDIT_KINDS;

const MAX_TEXT = 255;

export interface AuditFilters {
  person?: string | undefined;
  object?: string | undefined;
  kind?: Kind | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** @throws VALIDATION_FAILED */
export function readFilters(query: ListQuery): AuditFilters {
  const text = (name: string): string | undefined => {
    const given: unknown = lastOf(query[name]);
    if (given === undefined || given === '') return undefined;
    if (typeof given !== 'string' || given.length > MAX_TEXT)
      throw invalidField(name, `must be at most ${MAX_TEXT} characters`);
    return given;
  };
  const time = (name: string): Date | undefined => {
    const given: unknown = lastOf(query[name]);
    return given === undefined || given === '' ? undefined : readTime(name, given);
  };
  const kind = text('kind');
  if (kind !== undefined && !Object.hasOwn(AUDIT_KINDS, kind))
    throw invalidField('kind', `must be one of ${Object.keys(AUDIT_KINDS).join(', ')}`);
  const [from, to] = [time('from'), time('to')];
  if (from && to && to < from) throw invalidField('to', 'must not be before from');
  return { person: text('person'), object: text('object'), kind: kind as Kind | undefined, from, to };
}

/** @param reader the account whose entries may be read; null for an operator, who reads all */
export function conditionsOf(
  { person, object, kind, from, to }: AuditFilters,
  reader: string | null,
): Conditions {
  const where = new Conditions();
  if (reader !== null) where.and`e.account_id = ${reader} and e.role <> 'ADMIN'`;
  // Ids in paths are percent-encoded. The expression is that of an index.
  if (object !== undefined)
    where.and`split_part(regexp_replace(e.path, '^/admin', ''), '/', 3) = ${encodeURIComponent(object)}`;
  if (kind !== undefined)
    where.and`split_part(regexp_replace(e.path, '^/admin', ''), '/', 2) = any(${AUDIT_KINDS[kind]})`;
  if (from !== undefined) where.and`e.at >= ${from}`;
  if (to !== undefined) where.and`e.at < ${to}`;
  return where.search(person, 'e.actor');
}
