import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Navigate, useSearchParams } from 'react-router';
import { get, ApiError } from '../api/http';
import { useSigning } from '../api/session';
import type { Session, SignInWays } from '../api/types';
import { TextField } from '../parts/fields';
import { useAction } from '../parts/use-action';
import { texts } from '../texts';

const t = texts.signIn;

/** Returns the message for the error code of a failed OpenID Connect sign-in. */
const refusedFor = (code: string | null) =>
  code === null ? null : code === 'PERSON_UNKNOWN' ? t.personUnknown : t.failed;

/** Accepts only paths of this console, never another site. */
const safeNext = (next: string | null, otherwise: string) =>
  next && /^\/(?![/\\])/.test(next) ? next : otherwise;

export function SignIn({ session }: { session: Session | null }) {
  const [params] = useSearchParams();
  const next = params.get('next');
  const { signIn } = useSigning();
  const [apiKey, setApiKey] = useState('');
  const action = useAction(async () => {
    if (!apiKey.trim()) throw new Error(t.empty);
    await signIn(apiKey.trim()).catch((refusal: unknown) => {
      throw new Error(messageOf(refusal));
    });
  });
  const error = action.error?.message ?? refusedFor(params.get('error'));
  const ways = useQuery({ queryKey: ['sign-in'], queryFn: () => get<SignInWays>('/api/sign-in') });
  useEffect(() => {
    document.title = `${t.title} · ${texts.product}`;
  }, []);

  if (session) {
    const home = session.role === 'ADMIN' ? '/home' : '/';
    return <Navigate to={safeNext(next, home)} replace />;
  }

  return (
    <main className="sign-in">
      <span className="wordmark">{texts.product}</span>
      <div className="card">
        <div>
          <h1>{t.title}</h1>
          <p className="intro">{next === null ? t.intro : t.toContinue}</p>
        </div>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void action.run();
          }}
          noValidate
        >
          <TextField
            label={t.apiKey}
            type="password"
            autoComplete="off"
            spellCheck={false}
            maxLength={200}
            value={apiKey}
            error={error}
            onValue={setApiKey}
          />
          <button type="submit" className="button main" disabled={action.isBusy}>
            {action.isBusy ? t.busy : t.button}
          </button>
        </form>
        {ways.data?.oidc && (
          <>
            <span className="or">{t.or}</span>
            <a
              className="button"
              href={ways.data.oidc.url + (next === null ? '' : `?next=${encodeURIComponent(next)}`)}
            >
              {t.with(ways.data.oidc.label)}
            </a>
          </>
        )}
        <p className="hint">{t.noKey}</p>
        <p className="sr" role="alert">
          {error}
        </p>
      </div>
    </main>
  );
}

function messageOf(refusal: unknown): string {
  if (!(refusal instanceof ApiError)) return texts.errors.noResponse;
  if (refusal.status === 429) return t.slowDown(refusal.retryAfterSeconds ?? 60);
  return refusal.status === 401 || refusal.status === 400 ? t.wrong : refusal.message;
}
