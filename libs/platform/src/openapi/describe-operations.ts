import type { INestApplication } from '@nestjs/common';
import { PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import type { NestContainer } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { CALLER_ID_FORM, CALLER_ID_PATTERN, type ErrorCode, type FieldProblem } from '@perkway/domain';
import type { ErrorRenderer } from '../errors/error-renderer.js';
import { CallerIdPipe } from '../errors/caller-id.js';
import { problemsOf } from './api-problems.js';
import { CREDENTIALS, type Credentials, type Route } from './credentials.js';
import { describeProblems, ERROR_SCHEMAS } from './describe-problems.js';
import type { Operation, Parameter, RequestBody, Response, Schema, SchemaObject } from './types.js';

/**
 * Adds what guards, bodies and ids imply to the operations of a document, so that no handler repeats it: credentials
 * with their parameters and headers, errors in the host's format, the pattern of ids.
 *
 * @param examples of path and required query parameters, by name
 */
export function describeOperations(
  app: INestApplication,
  document: OpenAPIObject,
  render: ErrorRenderer,
  examples: Record<string, unknown>,
): void {
  const { routes, credentials } = explore(app);
  const components = (document.components ??= {});
  const schemas = (components.schemas ??= {});
  if (credentials) components.securitySchemes = { [credentials.name]: credentials.scheme };

  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods) as [string, Operation][]) {
      const route = routes.get(operation.operationId!);
      if (!route) throw new Error(`No handler is named like the operation ${operation.operationId}`);
      const requirements = credentials?.requirementsOf(route);
      operation.security = requirements ? [{ [credentials!.name]: [] }] : [];
      if (requirements?.scope) Object.assign(operation, { 'x-required-scope': requirements.scope });

      const parameters = (operation.parameters ?? []) as Parameter[];
      const ids = callerIdsOf(route);
      operation.parameters = [...parameters, ...(requirements?.parameters ?? [])].map((parameter) => ({
        ...parameter,
        ...(ids.includes(parameter.name) ? { schema: { type: 'string', pattern: CALLER_ID_PATTERN } } : {}),
        ...(parameter.required && parameter.name in examples ? { example: examples[parameter.name] } : {}),
      }));

      const codes: ErrorCode[] = [
        ...problemsOf(...route),
        ...(requirements?.errors ?? []),
        ...refusalsOfBody(method, operation),
      ];
      if (ids.length > 0) codes.push('VALIDATION_FAILED');
      const refusals = describeProblems(codes, render, path, wrongField(operation, ids, schemas));
      for (const status of Object.keys({ ...operation.responses, ...refusals })) {
        const own = operation.responses[status] as Response | undefined;
        const headers = { ...requirements?.headers, ...own?.headers, ...refusals[status]?.headers };
        operation.responses[status] = { ...own!, ...refusals[status] };
        if (Object.keys(headers).length > 0) Object.assign(operation.responses[status], { headers });
      }
    }

  for (const name of Object.keys(ERROR_SCHEMAS))
    if (JSON.stringify(document).includes(`"#/components/schemas/${name}"`))
      schemas[name] = ERROR_SCHEMAS[name]!;
}

/** Returns the handlers by name, and the guard. The document itself has no reference to the classes behind it. */
function explore(app: INestApplication) {
  const routes = new Map<string, Route>();
  let credentials: Credentials | undefined;
  const { container } = app as unknown as { container: NestContainer };
  for (const { controllers, providers } of container.getModules().values()) {
    credentials ??= providers.get(CREDENTIALS)?.instance as Credentials | undefined;
    for (const { metatype } of controllers.values()) {
      const controller = metatype as Route[1];
      for (const [name, { value }] of Object.entries(
        Object.getOwnPropertyDescriptors(controller.prototype),
      )) {
        // Skip the constructor, which has path metadata, too.
        if (value === controller || typeof value !== 'function') continue;
        if (Reflect.getMetadata(PATH_METADATA, value) === undefined) continue;
        if (routes.has(name)) throw new Error(`Two handlers are named ${name}; rename one of them`);
        routes.set(name, [value as Route[0], controller]);
      }
    }
  }
  return { routes, credentials };
}

/** Returns the names of path parameters that are caller-given ids. */
function callerIdsOf([handler, controller]: Route): string[] {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler.name) ?? {}) as Record<
    string,
    { data?: unknown; pipes: unknown[] }
  >;
  return Object.values(args).flatMap(({ data, pipes }) =>
    pipes.includes(CallerIdPipe) ? [data as string] : [],
  );
}

const JSON_TYPE = 'application/json';

function refusalsOfBody(method: string, { requestBody }: Operation): ErrorCode[] {
  if (method === 'get' || method === 'delete') return [];
  const codes: ErrorCode[] = ['VALIDATION_FAILED', 'UNSUPPORTED_MEDIA_TYPE'];
  // A body is read even if none is needed. A body that is not JSON is a stream of any length.
  const isStream = requestBody && !(JSON_TYPE in (requestBody as RequestBody).content);
  return isStream ? codes : [...codes, 'PAYLOAD_TOO_LARGE'];
}

/** Returns the first field that could be invalid, for an example. */
function wrongField(
  { requestBody, parameters }: Operation,
  ids: string[],
  schemas: Record<string, Schema>,
): FieldProblem | undefined {
  let schema = (requestBody as RequestBody | undefined)?.content[JSON_TYPE]?.schema;
  if (schema && '$ref' in schema) schema = schemas[schema.$ref.split('/').at(-1)!];
  const { required = [], properties = {} } = (schema ?? {}) as SchemaObject;
  const [field] = required;
  if (field) {
    const { type } = properties[field] as SchemaObject;
    return { field, message: type ? `must be of type ${String(type)}` : 'is missing' };
  }
  if (ids[0]) return { field: ids[0], message: CALLER_ID_FORM };
  const parameter = (parameters as Parameter[]).find(({ required }) => required);
  return parameter && { field: parameter.name, message: 'is missing or invalid' };
}
