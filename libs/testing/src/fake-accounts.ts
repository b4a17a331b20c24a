import { hashApiKey } from '@perkway/auth';
import {
  REPORT_KEY_USES,
  RESOLVE_ACCOUNTS,
  RESOLVE_BRANDS,
  RESOLVE_KEYS,
  type Brand,
  type ResolvedAccount,
  type Role,
} from '@perkway/domain';
import { randomBytes, randomUUID } from 'node:crypto';
import { answer } from './answer.js';
import { testSecrets } from './test-environment.js';

export interface TestKey {
  /** As a caller sends it. */
  key: string;
  keyId: string;
  account: string;
  role: Role;
}

/** An account id that no other test has. */
export const anAccountId = (): string => `account-${randomBytes(4).toString('hex')}`;

/** A valid key that nobody knows yet: give it to `fakeAccounts`. */
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
  setAccount(id: string, account: Partial<FakeAccount>): void;
  removeAccount(id: string): void;
  close(): Promise<void>;
}

/**
 * Stands in for token-issuer on a real broker, so that tests of other apps need not start it: answers whose key it is
 * and which accounts exist. The accounts of the keys exist.
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

  const pick = <From, To>(from: Map<string, From>, ids: string[], to: (value: From) => To) =>
    Object.fromEntries(ids.filter((id) => from.has(id)).map((id) => [id, to(from.get(id)!)]));
  const answering = await Promise.all([
    answer(natsUrl, RESOLVE_KEYS, ({ ids }) =>
      pick(keys, ids, ({ keyId, account, role }) => ({ keyId, account, role })),
    ),
    answer(natsUrl, RESOLVE_ACCOUNTS, ({ ids }) =>
      pick(accounts, ids, ({ name, allowedOrigins }) => ({ name, allowedOrigins })),
    ),
    answer(natsUrl, REPORT_KEY_USES, () => ({})),
    answer(natsUrl, RESOLVE_BRANDS, ({ ids }) => pick(accounts, ids, ({ brand }) => brand)),
  ]);
  return {
    add,
    revoke: (...revoked) => revoked.forEach(({ key }) => keys.delete(hashApiKey(pepper, key))),
    setAccount,
    removeAccount: (id) => void accounts.delete(id),
    close: async () => {
      await Promise.all(answering.map((each) => each.close()));
    },
  };
}
