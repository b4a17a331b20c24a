import { hash } from 'node:crypto';
import { REPORTING } from '@perkway/domain';
import type { QueryRunner } from 'typeorm';
import { CUBES, type Cube, type Dimension, type Measure } from '../model/cubes.js';
import { isName, joinName, keySql, ofCube, PERKS } from '../query/statement.js';

/** JSON instead of its text, because a BI tool reads single attributes with `->>`. */
const dimensionSql = (name: string, { sql }: Dimension): string => (name === 'cmeta' ? 'e.cmeta' : sql);
/** The contribution of a row to the measure: a number to sum, or the value to count distinct. */
const measureSql = ({ aggType, distinct, filter, ungrouped }: Measure): string => {
  if (aggType !== 'countDistinct') return ungrouped;
  return filter ? `case when ${filter} then ${distinct!} end` : distinct!;
};

/**
 * Returns the SQL that creates a view with one row for each row of an ungrouped query, for the account of the session's
 * role. The security barrier keeps a user's conditions from being evaluated on rows of other accounts, where an error
 * could reveal data.
 */
export function reportingView(cube: Cube): string {
  const { dimensions, measures } = cube;
  const joins = new Set(Object.values(dimensions).flatMap((dimension) => dimension.joins ?? []));
  const columns = [
    ...Object.entries(dimensions).map(([name, dimension]) => `${dimensionSql(name, dimension)} as ${name}`),
    ...Object.entries(measures)
      .filter(([, { rate, hasOnlyBit }]) => !rate && !hasOnlyBit)
      .map(([name, measure]) => `${measureSql(measure)} as ${name}`),
  ];
  return `create view ${REPORTING.schema}.${cube.name} with (security_barrier) as
    select ${columns.join(', ')}
    from tracking_events e
    ${joins.has('perks') ? PERKS : ''}
    ${[...joins]
      .filter(isName)
      .map((name) => joinName(name, keySql(cube, name), 'e.account_id'))
      .join(' ')}
    where e.account_id = (select r.account_id from ${REPORTING.roles} r where r.role = session_user)
      and ${ofCube({ cube, segments: [] }).join(' and ')}`;
}

/**
 * Creates or updates the views so that they match the model. A migration that changes a column they use must drop them
 * first. Does nothing if the database was provisioned without reporting.
 */
export async function writeReportingViews(runner: QueryRunner): Promise<void> {
  const [{ provisioned }] = (await runner.query(
    `select to_regrole('${REPORTING.group}') is not null and exists (select from pg_namespace
       where nspname = '${REPORTING.schema}' and pg_get_userbyid(nspowner) = current_user) as provisioned`,
  )) as [{ provisioned: boolean }];
  if (!provisioned) return;
  await runner.query(`
    create table if not exists ${REPORTING.roles} (account_id text primary key, role name not null unique);
    grant usage on schema ${REPORTING.schema} to ${REPORTING.group}`);
  for (const cube of CUBES) {
    const view = `${REPORTING.schema}.${cube.name}`;
    const text = reportingView(cube);
    const mark = hash('sha256', text, 'hex');
    const [{ known }] = (await runner.query(
      `select obj_description(to_regclass('${view}'), 'pg_class') as known`,
    )) as [{ known: string | null }];
    if (known === mark) continue;
    // One message is one transaction, so the view is never missing.
    await runner.query(`
      drop view if exists ${view};
      ${text};
      comment on view ${view} is '${mark}';
      grant select on ${view} to ${REPORTING.group}`);
  }
}
