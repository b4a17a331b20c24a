import { parse, serialize } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** An HttpOnly cookie. With TLS it has the `__Host-` prefix, which binds it to this host and to TLS. */
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

  /** Writes a browser-session cookie; the server decides when its content expires. */
  write(reply: FastifyReply, value: string): void {
    void reply.header('set-cookie', serialize(this.name, value, this.options));
  }

  clear(reply: FastifyReply): void {
    void reply.header('set-cookie', serialize(this.name, '', { ...this.options, expires: new Date(0) }));
  }
}
