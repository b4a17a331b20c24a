import type { OpenAPIObject } from '@nestjs/swagger';
import type { Schema, SchemaObject } from './types.js';

/**
 * Says of what may be null that it may, where `nullable: true` alone does not: an enumeration needs null among its
 * values, and a reference next to it still refuses null (OpenAPI 3.0.3, "nullable").
 */
export function trueNulls(document: OpenAPIObject): OpenAPIObject {
  for (const schema of Object.values(document.components?.schemas ?? {}) as SchemaObject[])
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      schema.properties![name] = trueNull(property);
  return document;
}

function trueNull(schema: Schema): Schema {
  if ('$ref' in schema || !schema.nullable) return schema;
  const { allOf, type: _, nullable: __, ...rest } = schema;
  if (allOf) return { ...rest, anyOf: [...allOf, { type: 'object', nullable: true, enum: [null] }] };
  return schema.enum && !schema.enum.includes(null) ? { ...schema, enum: [...schema.enum, null] } : schema;
}
