import type { FastifyInstance } from 'fastify';

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const toRegExp = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split('/')
      .map((part) =>
        // A parameter may have a suffix, as in `/statements/:month.jws`.
        part === '*' ? '.*' : escape(part).replace(/^:\w+/, '[^/]+'),
      )
      .join('/')}$`,
  );

/** Knows the methods of every path, for 405 responses. Create it before the first route. */
export class AllowedMethods {
  private readonly routes = new Map<string, { path: RegExp; methods: string[] }>();

  constructor(fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ url, method }) => {
      // Catch-all routes say nothing about whether a path exists.
      if (url === '*' || url === '/*') return;
      const route = this.routes.get(url) ?? { path: toRegExp(url), methods: [] };
      this.routes.set(url, route);
      route.methods.push(...[method].flat());
    });
  }

  /**
   * Returns the methods of a path; none for an unknown one.
   * @param address path and query
   */
  of(address: string): string[] {
    const [path] = address.split('?', 1);
    const matching = [...this.routes.values()].filter((route) => route.path.test(path!));
    return [...new Set(matching.flatMap(({ methods }) => methods))].sort();
  }
}
