import { http, waitFor } from '@perkway/testing';
import { ADMIN_KEY, CONSOLE, Fleet, OpenIdProvider } from './fleet';

const CALLBACK = `${CONSOLE}/api/oidc/callback`;

describe('signing in through OpenID Connect', () => {
  const fleet = new Fleet();
  let provider: OpenIdProvider;
  beforeAll(async () => {
    provider = await (await OpenIdProvider.reserve()).start(CONSOLE);
    await fleet.start(['token-issuer'], provider.variables);
  }, 120_000);
  afterAll(async () => {
    await fleet.close();
    await provider?.stop();
  });

  const cookiesOf = ({ headers }: { headers: Record<string, unknown> }) =>
    ((headers['set-cookie'] ?? []) as string[]).map((set) => set.split(';', 1)[0]!);
  const begin = async (query = '') => {
    const answer = await http(fleet.console).get(`/api/oidc/start${query}`).expect(302);
    const [set] = answer.headers['set-cookie'] as unknown as string[];
    expect(set).toMatch(/^perkway_oidc=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/);
    return { cookie: cookiesOf(answer)[0]!, location: answer.headers.location! };
  };
  /** Where the provider sends the browser back to when somebody has signed in there. */
  const signInThere = async (address: string, login: string): Promise<string> => {
    const jar = new Map<string, string>();
    for (let url = address; ;) {
      const answer = await fetch(url, {
        redirect: 'manual',
        headers: { 'x-login': login, cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
      });
      await answer.arrayBuffer();
      for (const set of answer.headers.getSetCookie()) {
        const [name, value] = set.split(';', 1)[0]!.split('=');
        jar.set(name!, value!);
      }
      const next = answer.headers.get('location');
      if (next === null) throw new Error(`the provider answered ${answer.status}`);
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

  it('lets a person of an account in, by an address that the provider vouches for', async () => {
    const account = await somebody('Ann@Bank.example');
    await http(fleet.console)
      .get('/api/sign-in')
      .expect(200, { oidc: { label: 'Ostervale accounts', url: '/api/oidc/start' } });
    const { cookie, location } = await begin();
    const asked = new URL(location).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      scope: 'openid email',
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{20,}$/),
      nonce: expect.stringMatching(/^[\w-]{20,}$/),
      redirect_uri: CALLBACK,
    });
    const answer = await comeBack(await signInThere(location, 'ann@bank.example'), cookie);
    expect(answer.text).toContain('content="0;url=/"');
    const session = cookiesOf(answer).find((each) => each.startsWith('perkway_session='))!;
    const { body } = await fleet.page(session).get('/api/session').expect(200);
    expect(body).toMatchObject({ accountId: account, role: 'USER', keyId: null, person: 'ann@bank.example' });
    await fleet.page(session).get('/api/keys').expect(200);

    await fleet
      .admin('token-issuer')
      .delete(`/admin/accounts/${account}/people/ann@bank.example`)
      .expect(204);
    await waitFor(
      async () => void (await fleet.page(session).get('/api/session').expect(401)),
      'the end of the session',
      5_000,
    );
  });

  it('lets nobody in who is unknown here, or unproved there', async () => {
    await somebody('unverified@bank.example');
    for (const [login, problem] of [
      ['nobody@bank.example', 'PERSON_UNKNOWN'],
      ['unverified@bank.example', 'SIGN_IN_FAILED'],
    ] as const) {
      const { cookie, location } = await begin();
      const answer = await comeBack(await signInThere(location, login), cookie);
      expect(answer.text).toContain(`url=/sign-in?error=${problem}`);
      expect(cookiesOf(answer).some((each) => each.startsWith('perkway_session=') && each.length > 20)).toBe(
        false,
      );
    }
  });

  it('takes an answer once, from the browser that asked', async () => {
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

  it('has the account that was asked for, of those that the person belongs to', async () => {
    const accounts = [await somebody('eve@bank.example'), await somebody('eve@bank.example', 'ADMIN')].sort();
    for (const [query, account] of [
      [`?account=${accounts[1]}`, accounts[1]],
      ['', accounts[0]],
    ] as const) {
      const { cookie, location } = await begin(query);
      const answer = await comeBack(await signInThere(location, 'eve@bank.example'), cookie);
      const session = cookiesOf(answer).find((each) => each.startsWith('perkway_session='))!;
      expect((await fleet.page(session).get('/api/session').expect(200)).body.accountId).toBe(account);
    }
    await fleet.signIn(ADMIN_KEY);
  });

  it('tells nobody what the console is known by there, whatever goes well or badly', async () => {
    const account = await somebody('kim@bank.example');
    const { OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } = provider.variables;
    const answers: { headers: object; text: string }[] = [];
    const consoles = [
      await fleet.launch({ LOG_LEVEL: 'debug' }),
      await fleet.launch({ LOG_LEVEL: 'debug', OIDC_CLIENT_SECRET: `${secret}-of-before` }),
      await fleet.launch({ LOG_LEVEL: 'debug', OIDC_ISSUER: 'http://127.0.0.1:9' }),
    ];
    const codes: string[] = [];
    for (const each of consoles) {
      const ask = async (path: string, cookie = '') => {
        const answer = await http(each, { cookie }).get(path);
        answers.push(answer);
        return answer;
      };
      const begun = await ask('/api/oidc/start');
      if (begun.status === 302) {
        const address = await signInThere(begun.headers.location!, 'kim@bank.example');
        codes.push(new URL(address, CONSOLE).searchParams.get('code')!);
        await ask(address, cookiesOf(begun)[0]);
        await ask(`${address}x`, cookiesOf(begun)[0]);
      }
      await ask(`/api/oidc/callback?client_secret=${secret}`);
      await ask(`/sign-in?error=${secret}`);
      await ask('/docs-json');
      await ask('/metrics');
    }
    expect(codes).toHaveLength(2);
    const stored = await fleet.database.query('select * from sessions where account_id = $1', [account]);
    expect(stored).toHaveLength(1);
    const logs = consoles.flatMap((each) => each.logs);
    expect(logs.length).toBeGreaterThan(10);
    // `client_secret_basic` sends both in base64.
    const said = JSON.stringify([logs, answers.map(({ headers, text }) => [headers, text]), stored]);
    for (const hidden of [secret!, Buffer.from(`${id}:${secret}`).toString('base64'), ...codes])
      expect(said.includes(hidden)).toBe(false);
    for (const each of consoles) await each.close();
  });

  it('is 503 while the provider is away', async () => {
    const alone = await fleet.launch({ OIDC_ISSUER: 'http://127.0.0.1:9' });
    await http(alone).get('/api/oidc/start').expect(503);
    await alone.close();
  });
});
