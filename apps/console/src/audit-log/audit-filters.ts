import { invalidField, lastOf } from '@perkway/domain';
import { Conditions, readOneOf, readTime, type ListQuery } from '@perkway/platform';

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

/** Outcomes of a change, derived from the `status` of an entry. */
export const AUDIT_OUTCOMES = ['done', 'rejected', 'unknown'] as const;
type Outcome = (typeof AUDIT_OUTCOMES)[number];

const MAX_TEXT = 255;

export interface AuditFilters {
  account?: string | undefined;
  outcome?: Outcome | undefined;
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
  const [from, to] = [time('from'), time('to')];
  if (from && to && to < from) throw invalidField('to', 'must not be before from');
  return {
    account: text('account'),
    outcome: readOneOf('outcome', text('outcome'), AUDIT_OUTCOMES),
    person: text('person'),
    object: text('object'),
    kind: readOneOf('kind', text('kind'), Object.keys(AUDIT_KINDS) as Kind[]),
    from,
    to,
  };
}

/**
 * @param reader the account whose entries may be read, except those of the role ADMIN; null for an operator, who reads
 *   all
 */
export function conditionsOf(
  { account, outcome, person, object, kind, from, to }: AuditFilters,
  reader: string | null,
): Conditions {
  const where = new Conditions();
  if (reader !== null) where.and`e.account_id = ${reader} and e.role <> 'ADMIN'`;
  // Only calls that save or delete a resource name its owner. Others, such as loading cards, are found by the
  // resource's id, which is percent-encoded in paths. `array(...)`, because Postgres uses no index for a plain subquery
  // in an `or`.
  if (account !== undefined)
    where.and`e.account_id = ${account} or e.id = any (array(
      with owned as materialized (
        select 'accounts' as kind, ${encodeURIComponent(account)}::text as object
        union
        select kind, object from audit_calls where before ->> 'owner' = ${account}
        union
        select kind, object from audit_calls join audit_outcomes on entry_id = id where after ->> 'owner' = ${account}
      )
      select id from audit_calls
      where object = any (array(select object from owned)) and (kind, object) in (select kind, object from owned)
    ))`;
  if (outcome === 'done') where.and`o.status < 400`;
  if (outcome === 'rejected') where.and`o.status >= 400`;
  if (outcome === 'unknown') where.and`o.status is null`;
  if (object !== undefined) where.and`e.object = ${encodeURIComponent(object)}`;
  if (kind !== undefined) where.and`e.kind = any(${AUDIT_KINDS[kind]})`;
  if (from !== undefined) where.and`e.at >= ${from}`;
  if (to !== undefined) where.and`e.at < ${to}`;
  return where.search(person, 'e.actor');
}
