import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createPrivateKey } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateSecrets, loadSecrets, rolePassword } from '../src/index.js';

const folder = mkdtempSync(join(tmpdir(), 'perkway-secrets-'));
const file = join(folder, 'secrets.json');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secrets = generateSecrets();
describe('secrets', () => {
  it('stay the same in a file that only its owner may read', async () => {
    const made = await loadSecrets(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await loadSecrets(file)).toEqual(made);
  });

  it('missing from an older file are added', async () => {
    const { pixelHashKey, ...older } = await loadSecrets(file);
    writeFileSync(file, JSON.stringify(older));
    const completed = await loadSecrets(file);
    expect(completed).toMatchObject(older);
    expect(completed.pixelHashKey).not.toBe(pixelHashKey);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(completed);
  });

  it('in an invalid file are not replaced', async () => {
    const broken = join(folder, 'broken.json');
    writeFileSync(broken, '{');
    await expect(loadSecrets(broken)).rejects.toThrow(`${broken} is not valid JSON`);
    expect(readFileSync(broken, 'utf8')).toBe('{');
  });

  it('have the formats that the apps require', () => {
    expect(secrets.adminKey).toMatch(/^[a-z0-9_]{16,128}$/);
    for (const ring of [secrets.linkSigningKeys, secrets.outreachSigningKeys, secrets.rewardTokenKeys])
      expect(ring).toMatch(/^[a-z0-9]{1,8}:[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(secrets.cardEncryptionKeys.split(':')[1]!, 'base64url')).toHaveLength(32);
    const [jwk] = JSON.parse(secrets.analyticsTokenKeys);
    expect(createPrivateKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(jwk.kid).toBe('k1');
  });

  it("of roles differ and are derived from the superuser's password", () => {
    const of = rolePassword('one');
    expect(of('links')).toBe(rolePassword('one')('links'));
    expect(of('links')).not.toBe(of('catalog'));
    expect(of('links')).not.toBe(rolePassword('two')('links'));
  });
});
