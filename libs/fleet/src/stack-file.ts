export type StackHost =
  'perks' | 'links' | 'boost' | 'gift' | 'rewards' | 'token' | 'query' | 'console' | 'events';

/** The contents of the file that `npm start` writes, for the demo, benchmarks and checks. */
export interface StackFile {
  /** Base URLs of the apps that run. */
  hosts: Partial<Record<StackHost, string>>;
  adminKey: string;
  /** The superuser's URL, with access to every schema. */
  databaseUrl: string;
  /** The URL of the operator, who may do everything on the broker. */
  natsUrl: string;
  /** By app folder, `postgres` and `nats`; only processes that this stack started. */
  pids: Record<string, number>;
  dataDir: string;
  logDir: string;
  accounts: { id: string; userKey: string; collections: string[]; campaigns: string[]; pools: string[] }[];
}

/** The file of a stack that runs every app. */
export interface WholeStackFile extends StackFile {
  hosts: Record<StackHost, string>;
}
