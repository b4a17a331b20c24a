import type { OpenAPIObject } from '@nestjs/swagger';

/** The parts of a schema that examples are built from. */
interface Schema {
  $ref?: string;
  example?: unknown;
  enum?: unknown[];
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
}
interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: unknown;
}

/** Gives each body without an example one that is built from the examples of its members. */
export function addExamples(document: OpenAPIObject): OpenAPIObject {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;

  /** @param inside the enclosing schemas; recursion stops at a schema that contains itself */
  const exampleOf = (schema: Schema, inside: Schema[] = []): unknown => {
    if (schema.example !== undefined) return schema.example;
    const named = schema.$ref && schemas[schema.$ref.split('/').at(-1)!];
    if (named) return inside.includes(named) ? undefined : exampleOf(named, [...inside, named]);
    if (schema.enum) return schema.enum[0];
    if (schema.allOf) return merged(schema.allOf.map((part) => exampleOf(part, inside)));
    const [alternative] = schema.oneOf ?? schema.anyOf ?? [];
    if (alternative) return exampleOf(alternative, inside);
    if (schema.items) {
      const item = exampleOf(schema.items, inside);
      return item === undefined ? undefined : [item];
    }
    if (!schema.properties) return undefined;
    const members = Object.entries(schema.properties)
      .map(([name, member]) => [name, exampleOf(member, inside)] as const)
      .filter(([, example]) => example !== undefined);
    return members.length > 0 ? Object.fromEntries(members) : undefined;
  };

  for (const path of Object.values(document.paths))
    for (const operation of Object.values(path) as { requestBody?: object; responses?: object }[]) {
      const bodies = [operation.requestBody, ...Object.values(operation.responses ?? {})];
      for (const body of bodies as ({ content?: Record<string, Content> } | undefined)[])
        for (const content of Object.values(body?.content ?? {})) {
          if (content.example !== undefined || content.examples || !content.schema) continue;
          const example = exampleOf(content.schema);
          if (example !== undefined) content.example = example;
        }
    }
  return document;
}

const merged = (parts: unknown[]): unknown => {
  const known = parts.filter((part) => part !== undefined);
  return known.length > 0 && known.every((part) => typeof part === 'object')
    ? Object.assign({}, ...(known as object[]))
    : known[0];
};
