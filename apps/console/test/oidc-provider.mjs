import { Provider } from 'oidc-provider';

// A real OpenID provider in a process of its own: `node oidc-provider.mjs <port> <redirect uri>`. The header `x-login`
// determines who is signed in; an address that contains `unverified` counts as unverified.

const [port, redirectUri] = process.argv.slice(2);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: 'perkway-console',
      client_secret: 'a-secret-that-only-the-two-of-them-know',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  cookies: { keys: ['a-key-for-the-cookies-of-the-provider'] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  findAccount: (_ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: id, email_verified: !id.includes('unverified') }),
  }),
  loadExistingGrant: async ({ oidc }) => {
    const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid email');
    await grant.save();
    return grant;
  },
});
provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next();
  const login = { accountId: ctx.get('x-login') };
  await provider.interactionFinished(ctx.req, ctx.res, { login }, { mergeWithLastSubmission: false });
  ctx.respond = false;
});
provider.listen(Number(port), '127.0.0.1', () => console.log('listening'));
