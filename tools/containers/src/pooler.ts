import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ComposeStack } from './compose-stack.js';
import { ROOT } from './paths.js';

const IMAGE = 'pgbouncer:debian';
const CONFIGURATION = join(ROOT, 'docker/pooler/pgbouncer.ini');
const ADDRESS = 'pooler:6432';

/** What goes around the pooler, as docs/deploy.md says: the upkeep of events holds locks of a session. */
export const AROUND = 'analytics-query/DATABASE_URL';

/** A pgbouncer in transaction mode beside the database of a stack. */
export class Pooler {
  private constructor(
    /** The same stack, whose apps ask the pooler when they are made anew. */
    readonly stack: ComposeStack,
    private readonly container: string,
    private readonly folder: string,
  ) {}

  static async start(direct: ComposeStack): Promise<Pooler> {
    const { engine, options } = direct;
    const folder = mkdtempSync(join(tmpdir(), 'perkway-pooler-'));
    const secrets = join(folder, 'secrets');
    cpSync(options.secrets, secrets, { recursive: true });
    const logins: string[] = [];
    for (const service of readdirSync(secrets))
      for (const name of ['DATABASE_URL', 'READER_DATABASE_URL']) {
        const file = join(secrets, service, name);
        if (service === 'provision' || `${service}/${name}` === AROUND || !existsSync(file)) continue;
        const url = new URL(readFileSync(file, 'utf8').trim());
        logins.push(`"${decodeURIComponent(url.username)}" "${decodeURIComponent(url.password)}"\n`);
        url.host = ADDRESS;
        writeFileSync(file, url.href);
      }
    mkdirSync(join(folder, 'users'));
    writeFileSync(join(folder, 'users/userlist.txt'), logins.join(''));
    await engine.makeStandIn(IMAGE);
    const container = await engine.docker([
      ...['run', '--detach', '--read-only', '--cap-drop', 'ALL', '--network', `${options.project}_inner`],
      ...['--network-alias', ADDRESS.split(':')[0]!],
      ...['--volume', `${CONFIGURATION}:/etc/pgbouncer/pgbouncer.ini:ro`],
      ...['--volume', `${join(folder, 'users')}:/etc/pgbouncer/users:ro`],
      IMAGE,
    ]);
    return new Pooler(new ComposeStack(engine, { ...options, secrets }), container.trim(), folder);
  }

  /** Its address within the network of the stack. */
  async address(): Promise<string> {
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
    return (await this.stack.engine.docker(['inspect', '--format', format, this.container])).trim();
  }

  logs(): Promise<string> {
    return this.stack.logs(this.container, 1_000);
  }

  async stop(): Promise<void> {
    this.stack.agent.destroy();
    await this.stack.engine.docker(['rm', '--force', this.container]);
    rmSync(this.folder, { recursive: true });
  }
}
