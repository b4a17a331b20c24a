import { parse, serialize } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A cookie that no script reads. Its name binds it to this very host where there is TLS, and browsers take it over TLS
 * alone then.
 */
export class HostCookie {
  private readonly name: string;
  private readonly options: { path: '/'; httpOnly: true; sameSite: 'strict' | 'lax'; secure: boolean };

  constructor(consoleUrl: string, name: string, sameSite: 'strict' | 'lax') {
    const secure = consoleUrl.startsWith('https:');
    this.name = secure ? `__Host-${name}` : name;
    this.options = { path: '/', httpOnly: true, sameSite, secure };
  }

  read({ headers }: FastifyRequest): string | undefined {
    return parse(headers.cookie ?? '')[this.name];
  }

  /** Goes with the browser, or before: the server knows when it ends. */
  write(reply: FastifyReply, value: string): void {
    void reply.header('set-cookie', serialize(this.name, value, this.options));
  }

  clear(reply: FastifyReply): void {
    void reply.header('set-cookie', serialize(this.name, '', { ...this.options, expires: new Date(0) }));
  }
}
