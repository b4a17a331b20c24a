import type { Secrets } from '@perkway/fleet';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { CommandError } from './read-variable.js';

/** The contents of `secrets.json`: the secrets, and the ids of keys that were added but are not in use yet. */
export interface StoredSecrets extends Secrets {
  nextKeyIds?: Record<string, string>;
}

const KEYRINGS = {
  LINK_SIGNING_KEYS: 'linkSigningKeys',
  OUTREACH_SIGNING_KEYS: 'outreachSigningKeys',
  REWARD_TOKEN_KEYS: 'rewardTokenKeys',
  CARD_ENCRYPTION_KEYS: 'cardEncryptionKeys',
  SESSION_KEYS: 'sessionKeys',
  ERASURE_KEYS: 'erasureKeys',
  WEBHOOK_SECRET_KEYS: 'webhookSecretKeys',
} as const;
const REPLACED = { PIXEL_HASH_KEY: 'pixelHashKey', NATS_PASSWORD: 'natsSecret' } as const;
const TOKEN_KEYS = 'ANALYTICS_TOKEN_KEYS';

export const ROTATABLE: readonly string[] = [...Object.keys(KEYRINGS), ...Object.keys(REPLACED), TOKEN_KEYS];

/** Time between adding a token key and signing with it, in which every replica must restart to get to know the key. */
const TOKEN_KEY_DELAY_S = 600;
/** Tokens live 300 s; a rotation removes keys that were superseded at least twice that long ago. */
const TOKEN_KEY_KEPT_S = 600;

const random = (): string => randomBytes(32).toString('base64url');

export interface Rotation {
  secrets: StoredSecrets;
  /** The operator's next step. */
  next: string;
}

/** Returns the secrets after one step of a rotation. */
export function rotateSecret(secrets: StoredSecrets, name: string, now: Date): Rotation {
  if (name in KEYRINGS) return rotateKeyring(secrets, KEYRINGS[name as keyof typeof KEYRINGS], name);
  if (name in REPLACED)
    return {
      secrets: { ...secrets, [REPLACED[name as keyof typeof REPLACED]]: random() },
      next: `${name} has a new value. Restart as "Rotation" in docs/deploy.md describes.`,
    };
  if (name === TOKEN_KEYS) return rotateTokenKeys(secrets, Math.floor(now.getTime() / 1000));
  throw new CommandError(
    `${name} cannot be rotated by this command, which rotates ${ROTATABLE.join(', ')}; for other secrets see "Rotation" in docs/deploy.md.`,
  );
}

/**
 * Takes two calls, with a restart of the apps after each: they restart one by one, so replicas that still run must
 * already know the key that restarted ones use.
 */
function rotateKeyring(
  secrets: StoredSecrets,
  field: (typeof KEYRINGS)[keyof typeof KEYRINGS],
  name: string,
): Rotation {
  const entries = secrets[field].split(',').map((entry) => entry.trim());
  const { [field]: nextId, ...others } = secrets.nextKeyIds ?? {};
  const next = nextId && entries.find((entry) => entry.startsWith(`${nextId}:`));
  if (next) {
    const keyring = [next, ...entries.filter((entry) => entry !== next)].join(',');
    return {
      secrets: { ...secrets, [field]: keyring, nextKeyIds: others },
      next: `${name}: key ${nextId} is now the first. Restart the apps one by one to use it.`,
    };
  }
  const numbers = entries.map((entry) => Number(/^k(\d+):/.exec(entry)?.[1] ?? 0));
  const keyId = `k${Math.max(...numbers) + 1}`;
  return {
    secrets: {
      ...secrets,
      [field]: [...entries, `${keyId}:${random()}`].join(','),
      nextKeyIds: { ...others, [field]: keyId },
    },
    next: `${name}: key ${keyId} was added and is not used yet. Restart the apps one by one, run this command again, and restart them again.`,
  };
}

interface TokenKey {
  kid: string;
  use_from?: number;
}

function rotateTokenKeys(secrets: StoredSecrets, now: number): Rotation {
  const keys = (JSON.parse(secrets.analyticsTokenKeys) as TokenKey[]).sort(
    (a, b) => (a.use_from ?? 0) - (b.use_from ?? 0),
  );
  const inUse = keys.filter((_, index) => {
    const supersededAt = keys[index + 1]?.use_from;
    return supersededAt === undefined || supersededAt + TOKEN_KEY_KEPT_S > now;
  });
  const kid = `k${Math.max(...keys.map((key) => Number(/^k(\d+)$/.exec(key.kid)?.[1] ?? 0))) + 1}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const added = {
    ...privateKey.export({ format: 'jwk' }),
    kid,
    use: 'sig',
    alg: 'ES256',
    use_from: now + TOKEN_KEY_DELAY_S,
  };
  return {
    secrets: { ...secrets, analyticsTokenKeys: JSON.stringify([...inUse, added]) },
    next: `${TOKEN_KEYS}: key ${kid} signs tokens in ${TOKEN_KEY_DELAY_S / 60} minutes. Restart the apps before then.`,
  };
}
