import type { MigrationInterface, QueryRunner } from 'typeorm';

const PERSONAL = "array['journey_id', 'journeyId', 'customer_id', 'customerId', 'reference', 'references']";

/** Removes recipients from existing entries of the audit log; new entries are written without them. */
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
