/** The parts of an OpenAPI document that requests are generated from. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  example?: unknown;
}

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header' | 'cookie';
  required?: boolean;
  schema?: Schema;
  example?: unknown;
}

interface Documented {
  operationId: string;
  parameters?: Parameter[];
  security?: Record<string, unknown>[];
  requestBody?: {
    content: Record<string, { schema?: Schema; examples?: Record<string, { value: unknown }> }>;
  };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Documented>>;
  components?: { schemas?: Record<string, Schema> };
}

export interface Operation {
  /** Method and path, such as `GET /pools`. */
  name: string;
  method: string;
  path: string;
  parameters: Parameter[];
  /** Bodies by content type; null if the operation takes none. */
  body: Record<string, { schema: Schema; examples: unknown[] }> | null;
  isKeyed: boolean;
  /** Content types by status; null if another document describes them. */
  responses: Map<number, string[]> | null;
}

export function operationsOf({ paths }: OpenApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]): Operation => {
      const { parameters = [], requestBody, responses, security = [] } = documented;
      const body = Object.entries(requestBody?.content ?? {}).map(
        ([type, { schema = {}, examples = {} }]) =>
          [type, { schema, examples: Object.values(examples).map(({ value }) => value) }] as const,
      );
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        parameters,
        body: requestBody ? Object.fromEntries(body) : null,
        isKeyed: security.length > 0,
        responses: new Map(
          Object.entries(responses).map(([status, { content = {} }]) => [
            Number(status),
            Object.keys(content),
          ]),
        ),
      };
    }),
  );
}
