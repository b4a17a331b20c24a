import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { version } from '../../../../package.json';
import type { PlatformEnv } from '../config/load-env.js';
import type { ErrorRenderer } from '../errors/error-renderer.js';
import { addExamples } from './add-examples.js';
import { describeOperations } from './describe-operations.js';
import { completeNullables } from './complete-nullables.js';
import { withoutAdmin } from './without-admin.js';

export interface OpenApiOptions {
  title: string;
  description: string;
  /** Public address of the host. */
  url: string;
  /** Examples of path and required query parameters, by name. */
  examples?: Record<string, unknown>;
  /** False leaves out the home page and `/docs`, which needs inline styles; the documents are still served. */
  withPage?: boolean;
}

/** Returns the document of an app; operations are named after their handlers. Also works in Nest's preview mode. */
export function makeDocument(
  app: INestApplication,
  { title, description, url, examples = {} }: OpenApiOptions,
  render: ErrorRenderer,
): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle(title)
    .setDescription(description)
    .setVersion(version)
    .addServer(url)
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (_controller, handler) => handler,
  });
  describeOperations(app, document, render, examples);
  return addExamples(completeNullables(document));
}

/** Serves `/docs`, `/docs-json` and `/docs-yaml`. Builds the document at the first request, not at start. */
export function setupOpenApi(
  app: INestApplication,
  options: OpenApiOptions,
  render: ErrorRenderer,
  { EXPOSE_ADMIN, METRICS_PORT }: PlatformEnv,
): void {
  SwaggerModule.setup('docs', app, () => makeDocument(app, options, render), {
    ui: options.withPage ?? true,
    jsonDocumentUrl: 'docs-json',
    yamlDocumentUrl: 'docs-yaml',
    // METRICS_PORT serves the complete document.
    patchDocumentOnRequest: <Request>(request: Request, _reply: unknown, document: OpenAPIObject) =>
      EXPOSE_ADMIN || (request as FastifyRequest).socket.localPort === METRICS_PORT
        ? document
        : withoutAdmin(document),
  });
}
