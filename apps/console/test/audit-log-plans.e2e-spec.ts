import { runMigrations } from '@perkway/platform';
import { rowsRead, testDatabase, type Plan } from '@perkway/testing';
import { conditionsOf } from '../src/audit-log/audit-filters.js';
import { migrations } from '../src/migrations/index.js';

it('the audit log of one account is read without reading that of all others', async () => {
  const database = await testDatabase('console', (url) => runMigrations(url, 'console', migrations));
  try {
    await database.query(
      `insert into audit_entries (account_id, role, actor, action, host, path, before)
       select 'platform', 'ADMIN', 'operator', 'PUT', 'boost', '/admin/campaigns/c-' || n % 4000,
         jsonb_build_object('owner', 'account-' || n % 4000)
       from generate_series(1, 20000) as n`,
    );
    await database.query(
      `insert into audit_entries (account_id, role, actor, action, host, path, before)
       values ('account-7', 'USER', 'ann', 'DELETE', 'console', '/reports/1', '{}')`,
    );
    await database.query('insert into audit_outcomes select id, at, 200, before from audit_entries');
    await database.query('analyze audit_entries');
    await database.query('analyze audit_outcomes');
    const where = conditionsOf({ account: 'account-7' }, null);
    const [explained] = await database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, format json)
       select e.id from audit_calls e left join audit_outcomes o on o.entry_id = e.id
       where ${where} order by e.id desc limit 51`,
      where.parameters,
    );
    const { Plan: plan } = explained!['QUERY PLAN'][0];
    // Five entries about its campaign, and its own.
    expect(plan['Actual Rows']).toBe(6);
    expect(rowsRead(plan)).toBeLessThan(1_000);
  } finally {
    await database.close();
  }
});
