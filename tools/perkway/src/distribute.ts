import { readCommandLine } from '@perkway/command-line';
import { distributeEvents } from '@perkway/local-servers';
import { CommandError, readVariable, runCommand } from './read-variable.js';

const USAGE = `perkway distribute

Distributes the event store by account over the nodes of a Citus cluster. DATABASE_ADMIN_URL must connect a superuser to the
database of analytics-query on the coordinator. That database must be provisioned and migrated, with the extension citus
created and the worker nodes added. Run the command again after a migration that adds a table.`;

await runCommand(async () => {
  readCommandLine(USAGE, {});
  const adminUrl = readVariable('DATABASE_ADMIN_URL');
  if (!adminUrl) throw new CommandError('DATABASE_ADMIN_URL is missing.');
  process.stdout.write(`${JSON.stringify({ msg: 'distributed', ...(await distributeEvents(adminUrl)) })}\n`);
});
