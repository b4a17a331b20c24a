/**
 * `perkway secrets <folder> [--kubernetes local|production]`: makes all secrets of a deployment and keeps them in
 * `secrets.json` of the folder. Without an option it writes one file for each variable of each app, as
 * docker/compose.yaml mounts them; with it, it prints the Secrets that the overlay refers to.
 */
import { loadSecrets } from '@perkway/fleet';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { CommandError, runCommand } from './read-variable.js';
import { composeSecrets, kubernetesSecrets, OVERLAYS, type Overlay } from './secret-files.js';

/** Containers read them as users of their own; the folder itself is only its owner's. */
const FILE_MODE = 0o444;

function writeAll(folder: string, files: Record<string, Record<string, string>>): void {
  for (const [part, values] of Object.entries(files))
    for (const [name, value] of Object.entries(values)) {
      const file = join(folder, part, name);
      mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
      rmSync(file, { force: true });
      writeFileSync(file, value);
      chmodSync(file, FILE_MODE);
    }
}

await runCommand(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { kubernetes: { type: 'string' } },
  });
  const [folder] = positionals;
  if (!folder)
    throw new CommandError('Which folder? perkway secrets <folder> [--kubernetes local|production]');
  const overlay = values.kubernetes;
  if (overlay !== undefined && !OVERLAYS.includes(overlay as Overlay))
    throw new CommandError(`--kubernetes takes ${OVERLAYS.join(' or ')}.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const secrets = await loadSecrets(join(folder, 'secrets.json'));
  if (overlay)
    process.stdout.write(`${JSON.stringify(kubernetesSecrets(secrets, overlay as Overlay), null, 2)}\n`);
  else writeAll(folder, composeSecrets(secrets));
});
