import { http, waitFor } from '@perkway/testing';
import { ADMIN_KEY, CONSOLE, Fleet, OpenIdProvider } from './fleet';

const CALLBACK = `${CONSOLE}/api/oidc/callback`;

describe('signing in through OpenID Connect', () => {
  const fleet = new Fleet();
  let provider: OpenIdProvider;
  beforeAll(async () => {
    provider = await (await OpenIdProvider.reserve()).start(CONSOLE);
    await fleet.start(['token-issuer'], provider.variables);
  });
  afterAll(async () => {
    await fleet.close();
    await provider?.stop();
  });

  const cookiesOf = ({ headers }: { headers: Record<string, unknown> }) =>
    ((headers['set-cookie'] ?? []) as string[]).map((set) => set.split(';', 1)[0]!);
  const begin = async (query = '') => {
    const response = await http(fleet.console).get(`/api/oidc/start${query}`).expect(302);
    const [set] = response.headers['set-cookie'] as unknown as string[];
    expect(set).toMatch(/^perkway_oidc=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/);
    return { cookie: cookiesOf(response)[0]!, location: response.headers.location! };
  };
  /** Signs in at the provider and returns where it redirects the browser. */
  const signInThere = async (address: string, login: string): Promise<string> => {
    const jar = new Map<string, string>();
    for (let url = address; ;) {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { 'x-login': login, cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
      });
      await response.arrayBuffer();
      for (const set of response.headers.getSetCookie()) {
        const [name, value] = set.split(';', 1)[0]!.split('=');
        jar.set(name!, value!);
      }
      const next = response.headers.get('location');
      if (next === null) throw new Error(`the provider responded with ${response.status}`);
      url = new URL(next, url).href;
      if (url.startsWith(CALLBACK)) return url.slice(CONSOLE.length);
    }
  };
  const comeBack = (address: string, cookie: string) =>
    http(fleet.console, { cookie }).get(address).expect(200);
  const somebody = async (email: string, role = 'USER') => {
    const { account } = await fleet.anAccount();
    await fleet
      .admin('token-issuer')
      .put(`/admin/accounts/${account}/people/${email}`)
      .send({ role })
      .expect(200);
    return account;
  };

  it('signs in a person of an account with a verified e-mail address', async () => {
    const account = await somebody('Ann@Bank.example');
    await http(fleet.console)
      .get('/api/sign-in')
      .expect(200, { oidc: { label: 'Ostervale accounts', url: '/api/oidc/start' } });
    const { cookie, location } = await begin();
    const requested = new URL(location).searchParams;
    expect(Object.fromEntries(requested)).toMatchObject({
      scope: 'openid email',
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{20,}$/),
      nonce: expect.stringMatching(/^[\w-]{20,}$/),
      redirect_uri: CALLBACK,
    });
    const response = await comeBack(await signInThere(location, 'ann@bank.example'), cookie);
    expect(response.text).toContain('content="0;url=/"');
    const session = cookiesOf(response).find((each) => each.startsWith('perkway_session='))!;
    const { body } = await fleet.page(session).get('/api/session').expect(200);
    expect(body).toMatchObject({ accountId: account, role: 'USER', keyId: null, person: 'ann@bank.example' });
    const { body: made } = await fleet.page(session).post('/api/keys').send({ role: 'USER' }).expect(201);
    const tokenWith = () => http({ url: fleet.urls['token-issuer']! }, { key: made.key }).get('/cube/token');
    await tokenWith().expect(200);

    await fleet
      .admin('token-issuer')
      .delete(`/admin/accounts/${account}/people/ann@bank.example`)
      .expect(204);
    await waitFor(
      async () => void (await fleet.page(session).get('/api/session').expect(401)),
      'the end of the session',
    );
    await tokenWith().expect(401);
  });

  it('rejects unknown people and unverified addresses', async () => {
    await somebody('unverified@bank.example');
    for (const [login, problem] of [
      ['nobody@bank.example', 'PERSON_UNKNOWN'],
      ['unverified@bank.example', 'SIGN_IN_FAILED'],
    ] as const) {
      const { cookie, location } = await begin();
      const response = await comeBack(await signInThere(location, login), cookie);
      expect(response.text).toContain(`url=/sign-in?error=${problem}`);
      expect(
        cookiesOf(response).some((each) => each.startsWith('perkway_session=') && each.length > 20),
      ).toBe(false);
    }
  });

  it('opens the page that the person asked for, and no other site', async () => {
    await somebody('fay@bank.example');
    const refreshOf = async (login: string, next: string) => {
      const { cookie, location } = await begin(`?next=${encodeURIComponent(next)}`);
      const { text } = await comeBack(await signInThere(location, login), cookie);
      return /content="0;url=([^"]*)"/.exec(text)![1];
    };
    const asked = '/?from=2026-01-01&to=2026-01-31&find="a\'b"';
    const next = encodeURIComponent(asked).replaceAll("'", '%27');
    expect(await refreshOf('fay@bank.example', asked)).toBe(`/sign-in?next=${next}`);
    expect(await refreshOf('stranger@bank.example', asked)).toBe(
      `/sign-in?error=PERSON_UNKNOWN&amp;next=${next}`,
    );
    for (const other of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      `/${'a'.repeat(1_501)}`,
    ])
      expect(await refreshOf('fay@bank.example', other)).toBe('/');
  });

  it('accepts a response once, from the browser that started the sign-in', async () => {
    await somebody('ben@bank.example');
    const [mine, other] = [await begin(), await begin()];
    const address = await signInThere(mine.location, 'ben@bank.example');
    for (const cookie of [other.cookie, 'perkway_oidc=forged', ''])
      expect((await comeBack(address, cookie)).text).toContain('SIGN_IN_FAILED');
    expect((await comeBack(address, mine.cookie)).text).toContain('url=/"');
    expect((await comeBack(address, mine.cookie)).text).toContain('SIGN_IN_FAILED');
    expect((await comeBack('/api/oidc/callback?error=access_denied', mine.cookie)).text).toContain(
      'SIGN_IN_FAILED',
    );
  });

  it('signs in to the requested account of a person with several', async () => {
    const accounts = [await somebody('eve@bank.example'), await somebody('eve@bank.example', 'ADMIN')].sort();
    for (const [query, account] of [
      [`?account=${accounts[1]}`, accounts[1]],
      ['', accounts[0]],
    ] as const) {
      const { cookie, location } = await begin(query);
      const response = await comeBack(await signInThere(location, 'eve@bank.example'), cookie);
      const session = cookiesOf(response).find((each) => each.startsWith('perkway_session='))!;
      expect((await fleet.page(session).get('/api/session').expect(200)).body.accountId).toBe(account);
    }
    await fleet.signIn(ADMIN_KEY);
  });

  it('never reveals the client secret, whether sign-in succeeds or fails', async () => {
    const account = await somebody('kim@bank.example');
    const { OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } = provider.variables;
    const responses: { headers: object; text: string }[] = [];
    const consoles = [
      await fleet.launch({ LOG_LEVEL: 'debug' }),
      await fleet.launch({ LOG_LEVEL: 'debug', OIDC_CLIENT_SECRET: `${secret}-of-before` }),
      await fleet.launch({ LOG_LEVEL: 'debug', OIDC_ISSUER: 'http://127.0.0.1:9' }),
    ];
    const codes: string[] = [];
    for (const each of consoles) {
      const sendRequest = async (path: string, cookie = '') => {
        const response = await http(each, { cookie }).get(path);
        responses.push(response);
        return response;
      };
      const begun = await sendRequest('/api/oidc/start');
      if (begun.status === 302) {
        const address = await signInThere(begun.headers.location!, 'kim@bank.example');
        codes.push(new URL(address, CONSOLE).searchParams.get('code')!);
        await sendRequest(address, cookiesOf(begun)[0]);
        await sendRequest(`${address}x`, cookiesOf(begun)[0]);
      }
      await sendRequest(`/api/oidc/callback?client_secret=${secret}`);
      await sendRequest(`/sign-in?error=${secret}`);
      await sendRequest('/docs-json');
      await sendRequest('/metrics');
    }
    expect(codes).toHaveLength(2);
    const stored = await fleet.database.query('select * from sessions where account_id = $1', [account]);
    expect(stored).toHaveLength(1);
    const logs = consoles.flatMap((each) => each.logs);
    expect(logs.length).toBeGreaterThan(10);
    // `client_secret_basic` sends both in base64.
    const said = JSON.stringify([logs, responses.map(({ headers, text }) => [headers, text]), stored]);
    for (const hidden of [secret!, Buffer.from(`${id}:${secret}`).toString('base64'), ...codes])
      expect(said.includes(hidden)).toBe(false);
    for (const each of consoles) await each.close();
  });

  it('responds 503 while the provider is unavailable', async () => {
    const alone = await fleet.launch({ OIDC_ISSUER: 'http://127.0.0.1:9' });
    await http(alone).get('/api/oidc/start').expect(503);
    await alone.close();
  });
});
