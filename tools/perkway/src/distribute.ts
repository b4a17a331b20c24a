/**
 * `perkway distribute`: distributes the event store by account over the nodes of a Citus cluster. DATABASE_ADMIN_URL is a
 * superuser's at the coordinator, and its database that of analytics-query: provisioned, migrated, with the extension and its
 * nodes. May be run again, and has to be after a migration that adds a table.
 */
import { distributeEvents } from '@perkway/local-servers';
import { CommandError, readVariable, runCommand } from './read-variable.js';

await runCommand(async () => {
  const adminUrl = readVariable('DATABASE_ADMIN_URL');
  if (!adminUrl) throw new CommandError('DATABASE_ADMIN_URL is missing.');
  process.stdout.write(`${JSON.stringify({ msg: 'distributed', ...(await distributeEvents(adminUrl)) })}\n`);
});
