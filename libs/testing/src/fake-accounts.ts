import { hashApiKey } from '@perkway/auth';
import {
  SUBJECTS,
  type ResolveAccountsReply,
  type ResolveAccountsRequest,
  type ResolvedAccount,
  type ResolveKeysReply,
  type ResolveKeysRequest,
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

export interface FakeAccounts {
  add(...keys: TestKey[]): void;
  revoke(...keys: TestKey[]): void;
  setAccount(id: string, account: Partial<ResolvedAccount>): void;
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
  const accounts = new Map<string, ResolvedAccount>();
  const setAccount = (id: string, account: Partial<ResolvedAccount>) =>
    void accounts.set(id, { name: id, allowedOrigins: [], brand: null, ...account });
  const add = (...added: TestKey[]) => {
    for (const key of added) {
      keys.set(hashApiKey(pepper, key.key), key);
      if (!accounts.has(key.account)) setAccount(key.account, {});
    }
  };
  add(...known);

  const pick = <V>(from: Map<string, V>, ids: string[]) =>
    ids.flatMap((id): [string, V][] => (from.has(id) ? [[id, from.get(id)!]] : []));
  const answering = await Promise.all([
    answer<ResolveKeysRequest, ResolveKeysReply>(natsUrl, SUBJECTS.resolveKeys, ({ hashes }) => ({
      keys: Object.fromEntries(
        pick(keys, hashes).map(([hash, { keyId, account, role }]) => [hash, { keyId, account, role }]),
      ),
    })),
    answer<ResolveAccountsRequest, ResolveAccountsReply>(
      natsUrl,
      SUBJECTS.resolveAccounts,
      ({ ids, withBrand }) => ({
        accounts: Object.fromEntries(
          pick(accounts, ids).map(([id, { brand, ...account }]) => [
            id,
            { ...account, ...(withBrand ? { brand } : {}) },
          ]),
        ),
      }),
    ),
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
