import { readCommandLine, refuseUsage } from '@perkway/command-line';

/**
 * The operator's commands in one image: `node main.js <command>`. Each command is a bundle beside this one, see
 * rolldown.config.mjs.
 */
const COMMANDS: Record<string, string> = {
  provision: 'creates the roles and schemas of the database',
  distribute: 'distributes the events over the nodes of Citus',
  apply: 'applies a folder with a catalogue through the management API',
  demo: 'runs one customer journey and checks that every interaction was counted',
  'dead-letters': 'lists, shows and replays events that could not be stored',
  replay: 'stores the events since a point in time again',
  secrets: 'generates the secrets of a deployment, and rotates them',
  'reporting-role': 'creates or drops the database role of a BI tool',
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
