import type { FastifyInstance } from 'fastify';

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const toRegExp = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : escape(part)))
      .join('/')}$`,
  );

/** Which methods an address answers: what a request with another one is told. Made before the first route. */
export class AllowedMethods {
  private readonly routes = new Map<string, { path: RegExp; methods: string[] }>();

  constructor(fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ url, method }) => {
      // What answers every address says of none that it exists.
      if (url === '*' || url === '/*') return;
      const route = this.routes.get(url) ?? { path: toRegExp(url), methods: [] };
      this.routes.set(url, route);
      route.methods.push(...[method].flat());
    });
  }

  /** Empty where there is nothing. @param address path and query */
  of(address: string): string[] {
    const [path] = address.split('?', 1);
    const matching = [...this.routes.values()].filter((route) => route.path.test(path!));
    return [...new Set(matching.flatMap(({ methods }) => methods))].sort();
  }
}
