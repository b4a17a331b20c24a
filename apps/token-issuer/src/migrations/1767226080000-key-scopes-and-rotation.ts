import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds scopes and rotation, and lets any key expire. */
export class KeyScopesAndRotation1767226080000 implements MigrationInterface {
  readonly name = 'KeyScopesAndRotation1767226080000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table api_keys
        add scopes text[] check (cardinality(scopes) > 0),
        add rotated_to uuid references api_keys,
        add counted_as uuid,
        drop constraint console_keys_end,
        add constraint console_keys_end check (not is_console or expires_at is not null)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    // The earlier release knows neither scopes nor expiry, so these keys could do more there.
    await runner.query(`
      update api_keys set revoked_at = coalesce(revoked_at, now()), expires_at = null
      where not is_console and (scopes is not null or expires_at is not null)`);
    await runner.query(`
      alter table api_keys
        drop scopes,
        drop rotated_to,
        drop counted_as,
        drop constraint console_keys_end,
        add constraint console_keys_end check (is_console = (expires_at is not null))`);
  }
}
