import { BEGIN_ERASURE } from '@perkway/domain';
import { generateSecrets, loadSecrets, type Secrets } from '@perkway/fleet';
import { rpcCaller, connectTo, waitFor } from '@perkway/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { send, type Stack } from './stack.js';

/** Keyrings: the new key goes before the old one. With several replicas, this takes two steps (docs/deploy.md). */
const KEYRINGS = [
  'linkSigningKeys',
  'outreachSigningKeys',
  'rewardTokenKeys',
  'cardEncryptionKeys',
  'sessionKeys',
  'erasureKeys',
  'webhookSecretKeys',
] as const;
/** Replaced from one start to the next. */
const REPLACED = ['pixelHashKey', 'natsSecret', 'superuserPassword'] as const;
/** Each has its own steps. */
const OTHERS = ['analyticsTokenKeys', 'apiKeyPepper', 'adminKey'] as const;
/** Never rotated: it recognizes cards that are loaded twice. */
const NEVER = ['cardHashKey'] as const;

/** Defines the tests that rotate every secret of a stack except `cardHashKey`. */
export function testRotation(stack: () => Stack): void {
  const secretsFile = () => join(stack().file.dataDir, 'secrets.json');
  const restartWith = async (change: (secrets: Secrets) => Partial<Secrets>) => {
    const secrets = await loadSecrets(secretsFile());
    const rotated = JSON.stringify({ ...secrets, ...change(secrets) });
    await stack().restart(() => writeFile(secretsFile(), rotated, { mode: 0o600 }));
  };

  const account = () => stack().file.accounts.find(({ pools }) => pools.length > 0)!;
  const call = (url: string, headers: Record<string, string> = {}, method = 'GET', body?: string | object) =>
    send(url, { method, headers, body });
  type Host = keyof Stack['file']['hosts'];
  const asUser = (host: Host, path: string, method?: string, body?: string | object, more = {}) =>
    call(`${stack().file.hosts[host]}${path}`, { 'x-api-key': account().userKey, ...more }, method, body);
  const asAdmin = (host: Host, path: string, method?: string, body?: string | object, more = {}) =>
    call(`${stack().file.hosts[host]}${path}`, { 'x-api-key': stack().file.adminKey, ...more }, method, body);

  const loadCard = async () => {
    const card = {
      code: `code-${randomBytes(8).toString('hex')}`,
      denomination: 3,
      currency: 'EUR',
      country: 'FR',
    };
    const { status } = await asAdmin(
      'gift',
      `/admin/pools/${account().pools[0]}/cards`,
      'POST',
      JSON.stringify(card),
      {
        'content-type': 'application/x-ndjson',
      },
    );
    expect(status).toBe(200);
    return card.code;
  };
  const makeLink = async () => {
    const path = `/pool/${account().pools[0]}/reward-links?idempotencyKey=${randomUUID()}`;
    const expires_at = Math.floor(Date.now() / 1000) + 86_400;
    const body = { denomination: 3, currency: 'EUR', expires_at };
    const reply = await asUser('gift', path, 'POST', body, { 'x-created-by': 'rotation' });
    expect(reply.status).toBe(201);
    return reply.json() as { id: string; token: string };
  };
  const reveal = async (token: string) =>
    (
      await call(
        `${stack().file.hosts.rewards}/api/reward-link/reveal`,
        { authorization: `Bearer ${token}` },
        'POST',
      )
    ).json().card?.code as string;
  const clickUrlOf = async () =>
    /"(http[^"]+\/c\/[\w.-]+)"/.exec(
      (await asUser('perks', `/perk-collections/${account().collections[0]}`)).text,
    )![1]!;
  const journeyClickUrlOf = async () =>
    (await asUser('boost', `/rewards/${account().campaigns[0]}`)).json().incentives[0].click_url as string;
  const pixel = async () =>
    call((await asUser('boost', `/outreach/campaign/${account().campaigns[0]}/pixel-urls`)).json().teaser);
  const cubeToken = async () => (await asUser('token', '/cube/token')).json().token as string;
  const meta = async (token: string) =>
    (await call(`${stack().file.hosts.query}/cubejs-api/v1/meta`, { authorization: token })).status;
  const kidOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid as string;
  const signIn = async () => {
    const { console: origin } = stack().file.hosts;
    const reply = await call(`${origin}/api/session`, { origin }, 'POST', { apiKey: account().userKey });
    expect(reply.status).toBe(200);
    return reply.headers.get('set-cookie')!.split(';')[0]!;
  };
  const session = async (cookie: string) =>
    (await call(`${stack().file.hosts.console}/api/session`, { cookie })).status;
  const standInOf = async (value: string) => {
    const operator = await rpcCaller(stack().file.natsUrl);
    try {
      return (
        await operator.rpc.request(
          BEGIN_ERASURE,
          { account: account().id, kind: 'journey_id', value },
          10_000,
        )
      ).standIn;
    } finally {
      await operator.close();
    }
  };
  /** Ports do not change, so an older URL leads to the same host. */
  const redirects = async (url: string) => expect((await call(url)).status).toBe(302);

  it('names every secret', () => {
    expect([...KEYRINGS, ...REPLACED, ...OTHERS, ...NEVER].sort()).toEqual(
      Object.keys(generateSecrets()).sort(),
    );
  });

  it('rotates keyrings, token keys and passwords; values of old keys stay valid, old passwords do not', async () => {
    const before = {
      click: await clickUrlOf(),
      journeyClick: await journeyClickUrlOf(),
      card: await loadCard(),
      link: await makeLink(),
      session: await signIn(),
      token: await cubeToken(),
      standIn: await standInOf('somebody'),
    };
    const superuserPassword = randomBytes(32).toString('base64url');
    await stack().query(`alter role current_user password '${superuserPassword}'`);
    const fresh = generateSecrets();
    const [jwk] = JSON.parse(fresh.analyticsTokenKeys) as object[];
    await restartWith((old) => ({
      ...Object.fromEntries(
        KEYRINGS.map((name) => [name, `${fresh[name].replace(/^k1:/, 'k2:')},${old[name]}`]),
      ),
      pixelHashKey: fresh.pixelHashKey,
      natsSecret: fresh.natsSecret,
      superuserPassword,
      // The new key is published before it signs, because a second replica may not have it yet.
      analyticsTokenKeys: JSON.stringify([
        ...(JSON.parse(old.analyticsTokenKeys) as object[]),
        { ...jwk, kid: 'k2', use_from: Math.floor(Date.now() / 1000) + 20 },
      ]),
    }));

    await redirects(before.click);
    await redirects(before.journeyClick);
    await redirects(await clickUrlOf());
    await redirects(await journeyClickUrlOf());
    expect(await reveal(before.link.token)).toBe(before.card);
    expect(await session(before.session)).toBe(200);
    expect(await meta(before.token)).toBe(200);
    expect(await standInOf('somebody')).toBe(before.standIn);
    expect((await pixel()).status).toBe(200);

    const code = await loadCard();
    const link = await makeLink();
    expect(await reveal(link.token)).toBe(code);
    const [row] = await stack().query<{ token_key: string; sealed: Buffer }>(
      `select l.token_key, c.sealed from gift_cards.reward_links l join gift_cards.cards c on c.id = l.card_id where l.id = $1`,
      [link.id],
    );
    expect(row!.token_key).toBe('k2');
    expect(row!.sealed.subarray(2, 4).toString()).toBe('k2');
    expect(await session(await signIn())).toBe(200);
    const sessions = await stack().query<{ keyring_id: string }>(
      'select keyring_id from console.sessions order by created_at desc limit 2',
    );
    expect(sessions.map(({ keyring_id }) => keyring_id)).toEqual(['k2', 'k1']);

    const jwks = (await call(`${stack().file.hosts.token}/.well-known/jwks.json`)).json() as {
      keys: { kid: string }[];
    };
    expect(jwks.keys.map(({ kid }) => kid).sort()).toEqual(['k1', 'k2']);

    // The old passwords of the database and the broker no longer work.
    const old = new pg.Client({ connectionString: stack().former!.databaseUrl });
    await expect(old.connect()).rejects.toThrow(/password/);
    await expect(connectTo(stack().former!.natsUrl)).rejects.toThrow(/uthorization/);
  });

  it('rotates the pepper with all keys, and lets the operator in again', async () => {
    const { userKey } = account();
    const formerAdmin = stack().file.adminKey;
    // No key is valid with another pepper, so they are deleted; the next start then imports the bootstrap key again.
    await stack().query('delete from accounts.api_keys');
    const { apiKeyPepper, adminKey } = generateSecrets();
    await restartWith(() => ({ apiKeyPepper, adminKey }));
    const accounts = (key: string) =>
      call(`${stack().file.hosts.token}/admin/accounts`, { 'x-api-key': key });
    expect((await accounts(formerAdmin)).status).toBe(401);
    expect((await accounts(adminKey)).status).toBe(200);

    const made = await asAdmin('token', `/admin/accounts/${account().id}/keys`, 'POST', { role: 'USER' });
    const collection = `${stack().file.hosts.perks}/perk-collections/${account().collections[0]}`;
    expect((await call(collection, { 'x-api-key': made.json().key })).status).toBe(200);
    // The stack imports the demo's keys at each start; a client's own key would be unknown.
    expect(userKey).toBe(account().userKey);

    // The operator replaces the bootstrap key with another one.
    const next = (await asAdmin('token', '/admin/accounts/platform/keys', 'POST', { role: 'ADMIN' })).json();
    const keys = (await asAdmin('token', '/admin/accounts/platform/keys')).json() as {
      id: string;
      name: string;
    }[];
    const { id } = keys.find(({ name }) => name === 'bootstrap')!;
    const revoked = await call(
      `${stack().file.hosts.token}/admin/accounts/platform/keys/${id}`,
      { 'x-api-key': next.key },
      'DELETE',
    );
    expect(revoked.status).toBe(204);
    await waitFor(async () => (await accounts(adminKey)).status === 401, 'the bootstrap key to be rejected');
    expect((await accounts(next.key)).status).toBe(200);
  });

  // Last, so that the `use_from` of the new key has passed, or nearly.
  it('eventually signs with the new token key', async () => {
    await waitFor(async () => kidOf(await cubeToken()) === 'k2', 'a token of the new key', 120_000);
    expect(await meta(await cubeToken())).toBe(200);
  });
}
