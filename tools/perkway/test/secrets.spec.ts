import { parseKeyring, seal, open, signRewardToken, verifyRewardToken } from '@perkway/signing';
import { runNode } from '@perkway/testing';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rotateSecret, ROTATABLE, type StoredSecrets } from '../src/rotate-secret.js';
import { generateSecrets } from '@perkway/fleet';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perkway-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const secrets = (...args: string[]) =>
  runNode(['--import', 'tsx', 'tools/perkway/src/secrets.ts', ...args], { env: {} });
const make = () => secrets(folder);
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const kids = (path: string) =>
  read(path)
    .split(',')
    .map((entry) => entry.split(':')[0]);

describe('perkway secrets', () => {
  it('does not overwrite a file that differs from secrets.json', async () => {
    expect((await make()).exitCode).toBe(0);
    const file = join(folder, 'perks/LINK_SIGNING_KEYS');
    const changed = `new1:${'A'.repeat(43)},${read('perks/LINK_SIGNING_KEYS')}`;
    chmodSync(file, 0o644);
    writeFileSync(file, changed);
    const again = await make();
    expect(again).toEqual({
      exitCode: 1,
      output: expect.stringContaining('perks/LINK_SIGNING_KEYS differs from secrets.json'),
    });
    expect(again.output).not.toContain('AAAA');
    expect(read('perks/LINK_SIGNING_KEYS')).toBe(changed);
    // A rotation does not either.
    const store = read('secrets.json');
    expect((await secrets('rotate', 'LINK_SIGNING_KEYS', folder)).exitCode).toBe(1);
    expect([read('perks/LINK_SIGNING_KEYS'), read('secrets.json')]).toEqual([changed, store]);
  });

  it('rotates a keyring in two steps, in every file and in the Secrets of Kubernetes', async () => {
    await make();
    const [first] = read('perks/LINK_SIGNING_KEYS').split(',');
    expect((await secrets('rotate', 'LINK_SIGNING_KEYS', folder)).output).toMatch(
      /added and is not used yet/,
    );
    expect(kids('perks/LINK_SIGNING_KEYS')).toEqual(['k1', 'k2']);
    expect((await make()).exitCode).toBe(0);
    expect((await secrets('rotate', 'LINK_SIGNING_KEYS', folder)).output).toMatch(/now the first/);
    expect((await make()).exitCode).toBe(0);
    for (const app of ['perks', 'links']) {
      expect(kids(`${app}/LINK_SIGNING_KEYS`)).toEqual(['k2', 'k1']);
      expect(read(`${app}/LINK_SIGNING_KEYS`)).toContain(first!);
    }
    const { output } = await secrets(folder, '--kubernetes', 'production');
    expect(output).toContain(read('links/LINK_SIGNING_KEYS'));
    expect((await secrets('rotate', 'LINK_SIGNING_KEYS', folder)).exitCode).toBe(0);
    expect(kids('perks/LINK_SIGNING_KEYS')).toEqual(['k2', 'k1', 'k3']);
  });

  it('refuses to rotate a secret that needs more than a new value', async () => {
    await make();
    const before = read('secrets.json');
    const { exitCode, output } = await secrets('rotate', 'CARD_HASH_KEY', folder);
    expect([exitCode, output]).toEqual([1, expect.stringContaining('CARD_HASH_KEY cannot be rotated')]);
    expect(read('secrets.json')).toBe(before);
  });
});

describe('a rotation', () => {
  const start = new Date('2026-01-01T00:00:00Z');

  it.each(ROTATABLE)('of %s changes this secret and no other', (name) => {
    const before: StoredSecrets = generateSecrets();
    const { secrets: after } = rotateSecret(before, name, start);
    const changed = Object.keys(before).filter(
      (key) => after[key as keyof StoredSecrets] !== before[key as keyof StoredSecrets],
    );
    const own = name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    // The passwords of the broker's users are derived from one secret.
    expect(changed).toEqual([name === 'NATS_PASSWORD' ? 'natsSecret' : own]);
  });

  it("lets old and new replicas read each other's values at every step, repeatedly", () => {
    const replicas = ['rewardTokenKeys', 'cardEncryptionKeys'] as const;
    let current: StoredSecrets = generateSecrets();
    const [tokens, cards]: [string[], Buffer[]] = [[], []];
    for (let step = 0; step < 4; step += 1) {
      const before = current;
      for (const name of ['REWARD_TOKEN_KEYS', 'CARD_ENCRYPTION_KEYS'])
        current = rotateSecret(current, name, start).secrets;
      // While the apps restart one by one, replicas with the old and with the new secrets serve.
      for (const side of [before, current]) {
        tokens.push(
          signRewardToken(parseKeyring(side[replicas[0]]), '018f0000-0000-7000-8000-000000000001')!,
        );
        cards.push(seal(parseKeyring(side[replicas[1]]), 'card', 'code', 'row'));
      }
      for (const side of [before, current]) {
        for (const token of tokens)
          expect(verifyRewardToken(parseKeyring(side[replicas[0]]), token)).not.toBeNull();
        for (const card of cards)
          expect(open(parseKeyring(side[replicas[1]]), 'card', card, 'row')).toBe('code');
      }
    }
    expect(parseKeyring(current.rewardTokenKeys).current).toBe('k3');
  });

  it('publishes a token key before it signs, and removes one long after it was superseded', () => {
    const at = (minutes: number) => new Date(start.getTime() + minutes * 60_000);
    const keysOf = ({ analyticsTokenKeys }: StoredSecrets) =>
      (JSON.parse(analyticsTokenKeys) as { kid: string; use_from?: number }[]).map(({ kid }) => kid);
    const first = rotateSecret(generateSecrets(), 'ANALYTICS_TOKEN_KEYS', at(0)).secrets;
    expect(keysOf(first)).toEqual(['k1', 'k2']);
    expect(JSON.parse(first.analyticsTokenKeys)[1].use_from).toBe(at(10).getTime() / 1000);
    expect(keysOf(rotateSecret(first, 'ANALYTICS_TOKEN_KEYS', at(19)).secrets)).toEqual(['k1', 'k2', 'k3']);
    expect(keysOf(rotateSecret(first, 'ANALYTICS_TOKEN_KEYS', at(21)).secrets)).toEqual(['k2', 'k3']);
  });
});
