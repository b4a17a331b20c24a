import { hash } from 'node:crypto';
import { REPORTING } from '@perkway/domain';
import type { QueryRunner } from 'typeorm';
import { CUBES, type Cube, type Dimension, type Measure } from '../model/cubes.js';
import { isName, joinName, keySql, ofCube, PERKS } from '../query/statement.js';

/** JSON rather than its text, because a BI tool reads one attribute with `->>`. */
const dimensionSql = (name: string, { sql }: Dimension): string => (name === 'cmeta' ? 'e.cmeta' : sql);
/** What a row adds to the measure: a number to add up, or the thing of which the different ones are counted. */
const measureSql = ({ aggType, distinct, filter, ungrouped }: Measure): string => {
  if (aggType !== 'countDistinct') return ungrouped;
  return filter ? `case when ${filter} then ${distinct!} end` : distinct!;
};

/**
 * A row for each row that an ungrouped query would see, of the account of whoever has logged in. The barrier keeps conditions
 * that could tell something of a row, by an error for example, from being tried on the rows of others.
 */
export function reportingView(cube: Cube): string {
  const { dimensions, measures } = cube;
  const joins = new Set(Object.values(dimensions).flatMap((dimension) => dimension.joins ?? []));
  const columns = [
    ...Object.entries(dimensions).map(([name, dimension]) => `${dimensionSql(name, dimension)} as ${name}`),
    ...Object.entries(measures)
      .filter(([, { rate }]) => !rate)
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
 * Makes the views as the model says, those that are not so already. A migration that changes a column that they show drops
 * them first. Where the database was provisioned before there were any, nothing is made.
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
    // One message is one transaction: nobody finds the view gone.
    await runner.query(`
      drop view if exists ${view};
      ${text};
      comment on view ${view} is '${mark}';
      grant select on ${view} to ${REPORTING.group}`);
  }
}
