import { readCommandLine } from '@perkway/command-line';
import { loadSecrets } from '@perkway/fleet';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError, runCommand } from './read-variable.js';
import { ROTATABLE, rotateSecret, type StoredSecrets } from './rotate-secret.js';
import { composeSecrets, kubernetesSecrets, OVERLAYS, type Overlay } from './secret-files.js';

const SYNOPSIS =
  'perkway secrets <folder> [--kubernetes local|production [--pooler]], or perkway secrets rotate <variable> <folder>';
const USAGE = `${SYNOPSIS}

Generates all secrets of a deployment and keeps them in secrets.json in the folder. Writes one file per variable and app, as
docker/compose.yaml mounts them. With --kubernetes, prints the Secrets that the overlay refers to instead; add --pooler if
production uses the component k8s/pooler.

"rotate" takes the next step of a rotation, in secrets.json and in the files. <variable> is one of
${ROTATABLE.join(', ')}.`;
/** Containers read the files as other users. Only the owner can enter the folder. */
const FILE_MODE = 0o444;

/** By path inside the folder. */
const filesOf = (secrets: StoredSecrets): Map<string, string> =>
  new Map(
    Object.entries(composeSecrets(secrets)).flatMap(([part, values]) =>
      Object.entries(values).map(([name, value]) => [join(part, name), value] as const),
    ),
  );

/**
 * Throws if a file was changed by hand: a key that is only there would be lost, with all data encrypted or signed with
 * it.
 */
function refuseChanged(folder: string, files: Map<string, string>): void {
  const changed = [...files].filter(([path, value]) => {
    const file = join(folder, path);
    return existsSync(file) && readFileSync(file, 'utf8').trim() !== value.trim();
  });
  if (changed.length > 0)
    throw new CommandError(
      `${changed.map(([path]) => path).join(', ')} differs from secrets.json; nothing was written. ` +
        'Put the value into secrets.json to keep it, or remove the file to drop it.',
    );
}

function writeAll(folder: string, files: Map<string, string>): void {
  for (const [path, value] of files) {
    const file = join(folder, path);
    if (existsSync(file) && readFileSync(file, 'utf8') === value) continue;
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    rmSync(file, { force: true });
    writeFileSync(file, value);
    chmodSync(file, FILE_MODE);
  }
}

async function rotate(folder: string, name: string): Promise<void> {
  const store = join(folder, 'secrets.json');
  if (!existsSync(store)) throw new CommandError(`${store} does not exist, so there is nothing to rotate.`);
  const before: StoredSecrets = await loadSecrets(store);
  const { secrets, next } = rotateSecret(before, name, new Date());
  const hasFiles = existsSync(join(folder, 'broker', 'passwords.conf'));
  if (hasFiles) refuseChanged(folder, filesOf(before));
  const draft = `${store}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, store);
  if (hasFiles) writeAll(folder, filesOf(secrets));
  process.stdout.write(`${next}\n`);
}

async function make(folder: string, overlay: string | undefined, hasPooler: boolean): Promise<void> {
  if (overlay !== undefined && !OVERLAYS.includes(overlay as Overlay))
    throw new CommandError(`--kubernetes must be ${OVERLAYS.join(' or ')}.`);
  if (hasPooler && overlay !== 'production')
    throw new CommandError('--pooler requires --kubernetes production.');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const secrets: StoredSecrets = await loadSecrets(join(folder, 'secrets.json'));
  if (overlay) {
    process.stdout.write(
      `${JSON.stringify(kubernetesSecrets(secrets, overlay as Overlay, hasPooler), null, 2)}\n`,
    );
    return;
  }
  const files = filesOf(secrets);
  refuseChanged(folder, files);
  writeAll(folder, files);
}

await runCommand(async () => {
  const { positionals, values } = readCommandLine(USAGE, {
    allowPositionals: true,
    options: { kubernetes: { type: 'string' }, pooler: { type: 'boolean', default: false } },
  });
  const [first, second, third] = positionals;
  if (first === 'rotate') {
    if (!second || !third || positionals.length > 3 || values.kubernetes || values.pooler)
      throw new CommandError(SYNOPSIS);
    return rotate(third, second);
  }
  if (!first || second) throw new CommandError(`Give one folder: ${SYNOPSIS}`);
  return make(first, values.kubernetes, values.pooler);
});
