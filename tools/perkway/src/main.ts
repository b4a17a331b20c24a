import { readCommandLine, refuseUsage } from '@perkway/command-line';

/**
 * The operator's commands in one image: `node main.js <command>`. Each command is a bundle beside this one, see
 * rolldown.config.mjs.
 */
const COMMANDS: Record<string, string> = {
  provision: 'creates the roles and schemas of the database',
  distribute: 'distributes the events over the nodes of Citus',
  apply: 'applies a folder with a catalogue through the management API',
  demo: 'walks through one customer journey and checks that everything was counted',
  'dead-letters': 'lists, shows and replays events that could not be stored',
  replay: 'stores again the events tracked since a point in time',
  secrets: 'generates the secrets of a deployment, and rotates them',
  'reporting-role': 'creates or drops the role with which a BI tool reads an account',
  'admin-key': 'creates a new ADMIN key of the platform',
};

const [name = '', ...args] = process.argv.slice(2);
if (Object.hasOwn(COMMANDS, name)) {
  process.argv.splice(2, Infinity, ...args);
  await import(new URL(`./${name}.js`, import.meta.url).href);
} else {
  const lines = Object.entries(COMMANDS).map(([command, does]) => `  ${command.padEnd(15)} ${does}`);
  readCommandLine(`perkway <command>; perkway <command> --help describes it\n\n${lines.join('\n')}`, {
    allowPositionals: true,
  });
  refuseUsage(name ? `Unknown command "${name}"` : 'Give a command');
}
