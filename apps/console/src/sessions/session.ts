import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Role } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

/** Somebody who has signed in: the explicit first argument of services. */
export interface Session {
  /** The hash of its id, under which it is stored. */
  hash: string;
  /** The key behind it, with which the console calls the fleet. Never leaves the process but in such a call. */
  key: string;
  consoleKeyId: string;
  account: string;
  accountName: string;
  role: Role;
  /** The key that was signed in with, or the address of the person. */
  keyId: string | null;
  keyName: string | null;
  email: string | null;
  expiresAt: Date;
}

/** How somebody is called in the audit log and as the maker of links. */
export const nameOf = ({ email, keyName, keyId }: Pick<Session, 'email' | 'keyName' | 'keyId'>): string =>
  email ?? keyName ?? `key ${keyId}`;

export type SignedInRequest = FastifyRequest & { session?: Session };

/** Not for `@Public()` handlers. */
export const CurrentSession = createParamDecorator((_: unknown, context: ExecutionContext): Session => {
  const { session } = context.switchToHttp().getRequest<SignedInRequest>();
  if (!session) throw new Error('@CurrentSession() was used on a public handler');
  return session;
});
