import { applyDecorators, type INestApplication } from '@nestjs/common';
import { ApiResponse, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { DomainError, ERROR_CODES, type ErrorCode } from '@perkway/domain';
import {
  renderCubeError,
  renderPlainCode,
  renderProblem,
  type ErrorRenderer,
} from '../errors/error-renderer.js';
import { addExamples } from './add-examples.js';

const EXAMPLE_REQUEST_ID = '8d1c3c2e-5d5b-4f9e-9a53-0f6d3d1c2b7a';

const documentErrors =
  (render: ErrorRenderer) =>
  (...codes: ErrorCode[]) => {
    const byStatus = new Map<number, ErrorCode[]>();
    for (const code of codes) {
      const { status } = ERROR_CODES[code];
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    return applyDecorators(
      ...[...byStatus].map(([status, sameStatus]) => {
        const examples = Object.fromEntries(
          sameStatus.map((code) => {
            const { body } = render(new DomainError(code), EXAMPLE_REQUEST_ID);
            return [
              code,
              { summary: ERROR_CODES[code].title, value: body.startsWith('{') ? JSON.parse(body) : body },
            ];
          }),
        );
        const mediaType = render(new DomainError(sameStatus[0]!), EXAMPLE_REQUEST_ID).contentType.split(
          ';',
        )[0]!;
        return ApiResponse({
          status,
          description: sameStatus.map((code) => `\`${code}\`: ${ERROR_CODES[code].title}`).join('. '),
          content: {
            [mediaType]: { schema: { type: mediaType === 'text/plain' ? 'string' : 'object' }, examples },
          },
        });
      }),
    );
  };

/** Documents the refusals of an endpoint, with an example for each code, in the host's error format. */
export const ApiProblems = documentErrors(renderProblem);
export const ApiPlainErrors = documentErrors(renderPlainCode);
export const ApiCubeErrors = documentErrors(renderCubeError);

const describeApiKey = (document: DocumentBuilder): DocumentBuilder =>
  document.addApiKey({ type: 'apiKey', name: 'X-API-Key', in: 'header' }, 'apiKey');

/**
 * `/docs`, `/docs-json` and `/docs-yaml`. The document is made at the first look, not at start. `withPage: false`
 * leaves out `/docs` itself, whose page needs inline styles.
 */
export function setupOpenApi(
  app: INestApplication,
  title: string,
  description: string,
  describeCredentials = describeApiKey,
  { withPage = true } = {},
): void {
  const config = describeCredentials(
    new DocumentBuilder().setTitle(title).setDescription(description).setVersion('1.0'),
  ).build();
  SwaggerModule.setup('docs', app, () => addExamples(SwaggerModule.createDocument(app, config)), {
    ui: withPage,
    jsonDocumentUrl: 'docs-json',
    yamlDocumentUrl: 'docs-yaml',
  });
}
