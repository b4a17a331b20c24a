import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { ErrorRenderer } from '../errors/error-renderer.js';
import { addExamples } from './add-examples.js';
import { describeOperations } from './describe-operations.js';
import { trueNulls } from './true-nulls.js';

export interface OpenApiOptions {
  title: string;
  description: string;
  /** Public address of the host. */
  url: string;
  /** Examples of path and required query parameters, by name. */
  examples?: Record<string, unknown>;
  /** False leaves out `/docs`, whose page needs inline styles; its data is served all the same. */
  withPage?: boolean;
}

/** The document of an app, whose operations are called as their handlers are. Works in Nest's preview mode too. */
export function makeDocument(
  app: INestApplication,
  { title, description, url, examples = {} }: OpenApiOptions,
  render: ErrorRenderer,
): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle(title)
    .setDescription(description)
    .setVersion('1.0')
    .addServer(url)
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (_controller, handler) => handler,
  });
  describeOperations(app, document, render, examples);
  return addExamples(trueNulls(document));
}

/** `/docs`, `/docs-json` and `/docs-yaml`. The document is made at the first look, not at start. */
export function setupOpenApi(app: INestApplication, options: OpenApiOptions, render: ErrorRenderer): void {
  SwaggerModule.setup('docs', app, () => makeDocument(app, options, render), {
    ui: options.withPage ?? true,
    jsonDocumentUrl: 'docs-json',
    yamlDocumentUrl: 'docs-yaml',
  });
}
