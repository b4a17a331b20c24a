import type { MigrationInterface, QueryRunner } from 'typeorm';

const PERSONAL = "array['journey_id', 'journeyId', 'customer_id', 'customerId', 'reference', 'references']";

/** Entries are written without recipients from now on; those that are there lose them, for the last time anything is lost. */
export class RecipientsLeaveTheAuditLog1767225740000 implements MigrationInterface {
  readonly name = 'RecipientsLeaveTheAuditLog1767225740000';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, column] of [
      ['audit_entries', 'before'],
      ['audit_outcomes', 'after'],
    ])
      await runner.query(`
        alter table ${table} disable trigger append_only;
        update ${table} set ${column} = ${column} - ${PERSONAL}
        where jsonb_typeof(${column}) = 'object' and ${column} ?| ${PERSONAL};
        alter table ${table} enable trigger append_only`);
  }

  async down(): Promise<void> {}
}
