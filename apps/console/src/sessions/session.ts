import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Role } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

/** A signed-in user; services take it as their first argument. */
export interface Session {
  /** Hash of the session id, under which it is stored. */
  hash: string;
  /** The key with which the console calls the fleet. Leaves the process only in such calls. */
  key: string;
  consoleKeyId: string;
  account: string;
  accountName: string;
  role: Role;
  /** The key used to sign in; null for a person, who has `email` instead. */
  keyId: string | null;
  keyName: string | null;
  email: string | null;
  /** The operator's account while an operator views this account; null otherwise. */
  viewedBy: string | null;
  expiresAt: Date;
}

/** Returns the name of the user in the audit log and as the creator of links. */
export const nameOf = ({ email, keyName, keyId }: Pick<Session, 'email' | 'keyName' | 'keyId'>): string =>
  email ?? keyName ?? `key ${keyId}`;

export type SignedInRequest = FastifyRequest & { session?: Session };

/** Injects the session. Not for `@Public()` handlers. */
export const CurrentSession = createParamDecorator((_: unknown, context: ExecutionContext): Session => {
  const { session } = context.switchToHttp().getRequest<SignedInRequest>();
  if (!session) throw new Error('@CurrentSession() was used on a public handler');
  return session;
});
