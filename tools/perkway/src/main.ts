/**
 * What an operator runs beside the apps, as one image: `node main.js <command>`. Each command is a bundle of its own
 * beside this one, see rolldown.config.mjs.
 */
const COMMANDS: Record<string, string> = {
  provision: 'makes the roles and schemas of the database',
  distribute: 'distributes the events over the nodes of Citus',
  apply: 'puts a folder with a catalogue through the management calls',
  demo: 'walks one customer journey and checks that all of it was counted',
  'dead-letters': 'lists, shows and replays what could not be stored',
  replay: 'stores again what was tracked since a time',
  secrets: 'makes the secrets of a deployment',
  'reporting-role': 'makes or drops the role that a BI tool reads an account by',
};

const [name = '', ...args] = process.argv.slice(2);
if (name in COMMANDS) {
  process.argv.splice(2, Infinity, ...args);
  await import(new URL(`./${name}.js`, import.meta.url).href);
} else {
  const lines = Object.entries(COMMANDS).map(([command, does]) => `  ${command.padEnd(14)} ${does}`);
  process.stderr.write(`Which command?\n${lines.join('\n')}\n`);
  process.exitCode = 2;
}
