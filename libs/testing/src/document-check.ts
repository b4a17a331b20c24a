import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { makeDocument, renderProblem, type AppDefinition } from '@perkway/platform';
import addFormats from 'ajv-formats';
import Ajv, { type ValidateFunction } from 'ajv';
import type { FastifyReply, FastifyRequest } from 'fastify';

type Document = ReturnType<typeof makeDocument>;
interface Documented {
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

/**
 * Returns a function that lists how a value violates a schema of the document. Undocumented members are violations too.
 */
export function schemaChecker(document: Document): (schema: object, value: unknown) => string[] {
  const ajv = new Ajv({ allErrors: true, strictTypes: false });
  addFormats(ajv);
  ajv.addFormat('binary', true);
  ajv.addVocabulary(['example', 'components']);
  const prepared = (part: object): object => JSON.parse(JSON.stringify(part, closed), absolute) as object;
  ajv.addSchema(prepared({ $id: 'document', components: { schemas: document.components?.schemas ?? {} } }));
  // By the schema's text, because most responses share a few schemas, and compiling takes most of the time of a check.
  const compiled = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile(prepared(schema));
    compiled.set(text, validate);
    if (validate(value)) return [];
    return validate.errors!.map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
}
const closed = (_name: string, value: unknown): unknown => {
  const isOpen = typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
  return isOpen ? { additionalProperties: false, ...value } : value;
};
const absolute = (name: string, value: unknown): unknown =>
  name === '$ref' ? (value as string).replace(/^#/, 'document#') : value;

/** Responses checked per method, route and status. Load tests send thousands, which this keeps cheap. */
const CHECKED = 50;

type Check = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => string[];

/** Returns a function that lists how a response differs from the document. */
function responseChecker(document: Document): Check {
  const breaks = schemaChecker(document);
  return ({ method, routeOptions }, reply, payload) => {
    const path = routeOptions.url?.replace(/:(\w+)/g, '{$1}') ?? '';
    const operation = (document.paths[path] as Record<string, Documented> | undefined)?.[
      method.toLowerCase()
    ];
    // Status 500 is provoked by the test and never documented.
    if (!operation || reply.statusCode === 500) return [];
    const response = operation.responses[reply.statusCode];
    if (!response) return ['undocumented status'];
    const body =
      typeof payload === 'string' ? payload : Buffer.isBuffer(payload) ? payload.toString() : undefined;
    if (!body) return response.content && payload === undefined ? ['missing body'] : [];
    const type = String(reply.getHeader('content-type')).split(';')[0]!;
    const content = response.content?.[type];
    if (!content) return [`undocumented content type ${type}`];
    if (type.startsWith('image/')) return [];
    return breaks(content.schema, type.endsWith('json') ? JSON.parse(body) : body);
  };
}

/** Compares up to `CHECKED` responses of each kind with the app's OpenAPI document. Read `problems()` at the end. */
export function checkResponses(definition: AppDefinition): {
  definition: AppDefinition;
  problems(): string[];
} {
  const { openapi, errors = renderProblem } = definition;
  const problems = new Set<string>();
  const seen = new Map<string, number>();
  const configure = async (app: NestFastifyApplication) => {
    await definition.configure?.(app);
    let check: Check | undefined;
    const hook = (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: () => void) => {
      const kind = `${request.method} ${request.routeOptions.url} ${reply.statusCode}`;
      const count = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, count);
      if (request.method !== 'HEAD' && count <= CHECKED) {
        check ??= responseChecker(makeDocument(app, openapi!, errors));
        for (const problem of check(request, reply, payload))
          problems.add(`${kind} does not match the OpenAPI document: ${problem}`);
      }
      done();
    };
    if (openapi) app.getHttpAdapter().getInstance().addHook('onSend', hook);
  };
  return { definition: { ...definition, configure }, problems: () => [...problems] };
}
