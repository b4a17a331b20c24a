import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** Everything that must stay secret and stay the same between two starts of one environment. */
export interface Secrets {
  superuserPassword: string;
  /** The passwords of the NATS users follow from it. */
  natsSecret: string;
  /** The first ADMIN key; all of one case, as keys are compared without case. */
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
  analyticsTokenKeys: () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return JSON.stringify([{ ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' }]);
  },
};

export const generateSecrets = (): Secrets =>
  Object.fromEntries(
    Object.entries(GENERATORS).map(([name, generate]) => [name, generate()]),
  ) as unknown as Secrets;

/** Reads the secrets from a JSON file that only its owner may read; makes the file, and what is missing in it. */
export async function loadSecrets(file: string): Promise<Secrets> {
  let stored: Partial<Secrets> = {};
  try {
    stored = JSON.parse(await readFile(file, 'utf8')) as Partial<Secrets>;
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file} is not JSON`, { cause: error });
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

/**
 * The passwords of the database roles follow from the superuser's, so that two environments on one server, where
 * roles are common to all databases, agree about them.
 */
export const rolePassword =
  (superuserPassword: string) =>
  (role: string): string =>
    createHmac('sha256', superuserPassword).update(`role:${role}`).digest('base64url');

/** Of a user of the broker. */
export const natsPassword =
  (natsSecret: string) =>
  (user: string): string =>
    createHmac('sha256', natsSecret).update(`nats:${user}`).digest('base64url');
