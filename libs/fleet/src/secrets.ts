import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** The secrets of one environment, which must survive restarts. */
export interface Secrets {
  superuserPassword: string;
  /** The passwords of the NATS users are derived from it. */
  natsSecret: string;
  /** The first ADMIN key, in lower case because keys are case-insensitive. */
  adminKey: string;
  apiKeyPepper: string;
  linkSigningKeys: string;
  outreachSigningKeys: string;
  pixelHashKey: string;
  rewardTokenKeys: string;
  cardEncryptionKeys: string;
  cardHashKey: string;
  sessionKeys: string;
  erasureKeys: string;
  webhookSecretKeys: string;
  /** JSON array of private EC P-256 JWKs with `kid`. */
  analyticsTokenKeys: string;
}

const random = (): string => randomBytes(32).toString('base64url');
const keyring = (): string => `k1:${random()}`;

const GENERATORS: { [K in keyof Secrets]: () => Secrets[K] } = {
  superuserPassword: random,
  natsSecret: random,
  adminKey: () => `admin_${randomBytes(20).toString('hex')}`,
  apiKeyPepper: random,
  linkSigningKeys: keyring,
  outreachSigningKeys: keyring,
  pixelHashKey: random,
  rewardTokenKeys: keyring,
  cardEncryptionKeys: keyring,
  cardHashKey: random,
  sessionKeys: keyring,
  erasureKeys: keyring,
  webhookSecretKeys: keyring,
  analyticsTokenKeys: () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return JSON.stringify([{ ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' }]);
  },
};

export const generateSecrets = (): Secrets =>
  Object.fromEntries(
    Object.entries(GENERATORS).map(([name, generate]) => [name, generate()]),
  ) as unknown as Secrets;

/** Reads the secrets from a JSON file that only its owner may read. Creates the file and generates missing secrets. */
export async function loadSecrets(file: string): Promise<Secrets> {
  let stored: Partial<Secrets> = {};
  try {
    stored = JSON.parse(await readFile(file, 'utf8')) as Partial<Secrets>;
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file} is not valid JSON`, { cause: error });
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secrets = { ...generateSecrets(), ...stored };
  if (Object.keys(secrets).length > Object.keys(stored).length) {
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  }
  return secrets;
}

/** Derives a database role's password from the superuser's, so that environments that share a server agree on it. */
export const rolePassword =
  (superuserPassword: string) =>
  (role: string): string =>
    createHmac('sha256', superuserPassword).update(`role:${role}`).digest('base64url');

/** Derives a NATS user's password. */
export const natsPassword =
  (natsSecret: string) =>
  (user: string): string =>
    createHmac('sha256', natsSecret).update(`nats:${user}`).digest('base64url');
