import type { OpenAPIObject } from '@nestjs/swagger';
import type { Schema, SchemaObject } from './types.js';

type Schemas = Record<string, SchemaObject>;

/**
 * Completes `nullable: true` where it has no effect alone (OpenAPI 3.0.3, "nullable"): an enumeration needs null among
 * its values, and a reference beside it still rejects null. A nullable reference gets a schema of its own,
 * `<Name>OrNull`, because some client generators cannot compile a union with null.
 */
export function completeNullables(document: OpenAPIObject): OpenAPIObject {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  for (const schema of Object.values(schemas))
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      schema.properties![name] = completeNullable(property, schemas);
  const text = JSON.stringify(document);
  for (const name of Object.keys(schemas))
    if (schemas[`${name}OrNull`] && !text.includes(`"#/components/schemas/${name}"`)) delete schemas[name];
  return document;
}

function completeNullable(schema: Schema, schemas: Schemas): Schema {
  if ('$ref' in schema || !schema.nullable) return schema;
  const { allOf, type: _, nullable: __, ...rest } = schema;
  const [reference] = allOf ?? [];
  if (reference && '$ref' in reference) {
    const $ref = `${reference.$ref}OrNull`;
    const name = reference.$ref.split('/').at(-1)!;
    schemas[`${name}OrNull`] = { ...schemas[name], nullable: true };
    return { ...rest, allOf: [{ $ref }] };
  }
  return schema.enum && !schema.enum.includes(null) ? { ...schema, enum: [...schema.enum, null] } : schema;
}
