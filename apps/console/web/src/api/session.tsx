import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, type ReactNode } from 'react';
import { sendRequest, get, ApiError, whenSignedOut } from './http';
import type { Session } from './types';

const KEY = ['session'];
const SessionContext = createContext<Session | null>(null);

async function readSession(): Promise<Session | null> {
  try {
    return await get<Session>('/api/session');
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** Replaces the session and clears all other cached data, so that the next person in this window sees none of it. */
function replaceSession(client: QueryClient, session: Session | null): void {
  client.setQueryData(KEY, session);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
}

export const useSessionQuery = () =>
  // Refetch on focus if older than a minute: the session may have ended while the user was away.
  useQuery({ queryKey: KEY, queryFn: readSession, staleTime: 60_000, refetchOnWindowFocus: true });

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  const client = useQueryClient();
  useEffect(() => {
    whenSignedOut(() => replaceSession(client, null));
  }, [client]);
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('Used outside of a session');
  return session;
}

export function useSigning() {
  const client = useQueryClient();
  return {
    async signIn(apiKey: string): Promise<void> {
      const { body } = await sendRequest<Session>('/api/session', { method: 'POST', body: { apiKey } });
      replaceSession(client, body);
    },
    /** Shows the console of an account to an operator. */
    async view(accountId: string): Promise<void> {
      const { body } = await sendRequest<Session>('/api/view', { method: 'POST', body: { accountId } });
      replaceSession(client, body);
    },
    async endView(): Promise<void> {
      const { body } = await sendRequest<Session>('/api/view', { method: 'DELETE' });
      replaceSession(client, body);
    },
    async signOut(): Promise<void> {
      await sendRequest('/api/session', { method: 'DELETE' }).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 401)) throw error;
      });
      replaceSession(client, null);
    },
  };
}
