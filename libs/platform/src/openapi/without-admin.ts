import type { OpenAPIObject } from '@nestjs/swagger';

/** Returns the document without the management calls and the schemas that only they use. */
export function withoutAdmin(document: OpenAPIObject): OpenAPIObject {
  const paths = Object.fromEntries(
    Object.entries(document.paths).filter(([path]) => path.split('/')[1] !== 'admin'),
  );
  const all = document.components?.schemas ?? {};
  const used = new Set<string>();
  const collect = (part: unknown) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      if (!used.has(name!) && all[name!]) {
        used.add(name!);
        collect(all[name!]);
      }
  };
  collect(paths);
  const schemas = Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)));
  return { ...document, paths, components: { ...document.components, schemas } };
}
