import { hashApiKey } from '@perkway/auth';
import {
  REPORT_KEY_USES,
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  RESOLVE_KEYS,
  RESOLVE_ORIGINS,
  type Brand,
  type ResolvedAccount,
  type ResolvedKey,
  type Role,
} from '@perkway/domain';
import { randomBytes, randomUUID } from 'node:crypto';
import { respond } from './rpc-responder.js';
import { testSecrets } from './test-environment.js';

export interface TestKey extends ResolvedKey {
  /** The key as a caller sends it. */
  key: string;
}

/** Returns an account id that no other test uses. */
export const anAccountId = (): string => `account-${randomBytes(4).toString('hex')}`;

/** Returns a valid key. Pass it to `fakeAccounts` to make it known. */
export const aKey = (account: string = anAccountId(), role: Role = 'USER'): TestKey => ({
  key: `pk_${randomBytes(20).toString('hex')}`,
  keyId: randomUUID(),
  account,
  role,
});

interface FakeAccount extends ResolvedAccount {
  brand: Brand | null;
}

export interface FakeAccounts {
  add(...keys: TestKey[]): void;
  revoke(...keys: TestKey[]): void;
  /** The number of keys that apps asked it to resolve. */
  keysRequested(): number;
  setAccount(id: string, account: Partial<FakeAccount>): void;
  removeAccount(id: string): void;
  close(): Promise<void>;
}

/**
 * Replaces token-issuer on a real broker, so that tests of other apps need not start it. It resolves keys and accounts;
 * the account of every known key exists.
 */
export async function fakeAccounts(natsUrl: string, ...known: TestKey[]): Promise<FakeAccounts> {
  const pepper = testSecrets().apiKeyPepper;
  const keys = new Map<string, TestKey>();
  const accounts = new Map<string, FakeAccount>();
  const setAccount = (id: string, account: Partial<FakeAccount>) =>
    void accounts.set(id, { name: id, allowedOrigins: [], brand: null, ...account });
  const add = (...added: TestKey[]) => {
    for (const key of added) {
      keys.set(hashApiKey(pepper, key.key), key);
      if (!accounts.has(key.account)) setAccount(key.account, {});
    }
  };
  add(...known);

  let requested = 0;
  const pick = <From, To>(from: Map<string, From>, ids: string[], to: (value: From) => To) =>
    Object.fromEntries(ids.filter((id) => from.has(id)).map((id) => [id, to(from.get(id)!)]));
  const responders = await Promise.all([
    respond(natsUrl, RESOLVE_KEYS, ({ ids }) => {
      requested += ids.length;
      return pick(keys, ids, ({ key: _, ...resolved }) => resolved);
    }),
    respond(natsUrl, RESOLVE_ACCOUNTS, ({ ids }) =>
      pick(accounts, ids, ({ name, allowedOrigins }) => ({ name, allowedOrigins })),
    ),
    respond(natsUrl, RESOLVE_ORIGINS, ({ ids }) => {
      const listed = new Set([...accounts.values()].flatMap(({ allowedOrigins }) => allowedOrigins));
      return Object.fromEntries(ids.filter((id) => listed.has(id)).map((id) => [id, true as const]));
    }),
    respond(natsUrl, REPORT_KEY_USES, () => ({})),
    respond(natsUrl, RESOLVE_BRANDS, ({ ids }) => pick(accounts, ids, ({ brand }) => brand)),
  ]);
  return {
    add,
    keysRequested: () => requested,
    revoke: (...revoked) => revoked.forEach(({ key }) => keys.delete(hashApiKey(pepper, key))),
    setAccount,
    removeAccount: (id) => void accounts.delete(id),
    close: async () => {
      await Promise.all(responders.map((each) => each.close()));
    },
  };
}
