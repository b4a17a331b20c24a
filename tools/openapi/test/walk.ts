import type { OpenApiDocument } from '../src/documents';

// The parts of a document that tests read. In our documents only schemas are references.

export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  nullable?: boolean;
  example?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}
export interface Valued {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
export interface Parameter extends Valued {
  name: string;
  in: string;
  required?: boolean;
}
export interface Response {
  description: string;
  headers?: Record<string, Valued>;
  content?: Record<string, Valued>;
}
export interface Operation {
  operationId: string;
  summary?: string;
  security?: Record<string, string[]>[];
  'x-required-scope'?: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, Valued> };
  responses: Record<string, Response>;
}
export interface Route extends Operation {
  /** Method and path, such as `GET /pools`, for messages. */
  name: string;
  method: string;
  path: string;
}

export const routesOf = (document: OpenApiDocument): Route[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      ...operation,
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
    })),
  );

export const schemasOf = (document: OpenApiDocument) =>
  (document.components?.schemas ?? {}) as Record<string, Schema>;

/** Returns every body, parameter and header of a document with its location. */
export function valuesOf(document: OpenApiDocument): [where: string, value: Valued][] {
  return routesOf(document).flatMap(({ name, parameters, requestBody, responses }) => [
    ...parameters.map((parameter) => [`${name} ${parameter.name}`, parameter] as [string, Valued]),
    ...Object.entries(requestBody?.content ?? {}).map(
      ([type, body]) => [`${name} ${type}`, body] as [string, Valued],
    ),
    ...Object.entries(responses).flatMap(([status, { content = {}, headers = {} }]) =>
      Object.entries({ ...content, ...headers }).map(
        ([what, value]) => [`${name} ${status} ${what}`, value] as [string, Valued],
      ),
    ),
  ]);
}

/** Returns every schema of a document, including nested ones, with its location. */
export function* allSchemas(document: OpenApiDocument): Generator<[where: string, schema: Schema]> {
  for (const [name, schema] of Object.entries(schemasOf(document))) yield* nested(name, schema);
  for (const [where, { schema }] of valuesOf(document)) if (schema) yield* nested(where, schema);
}
function* nested(where: string, schema: Schema): Generator<[string, Schema]> {
  yield [where, schema];
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* nested(`${where}.${name}`, member);
  for (const other of [
    schema.allOf,
    schema.anyOf,
    schema.oneOf,
    schema.items,
    schema.additionalProperties,
  ].flat())
    if (typeof other === 'object') yield* nested(`${where}[]`, other);
}
