import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { HEADERS, OPERATIONS, parseOperation } from '../src/operations';

const ROOT = join(__dirname, '../../..');
const APPS = {
  perks: 'perks',
  boost: 'boost',
  gift: 'gift-cards',
  token: 'token-issuer',
  analytics: 'analytics-query',
};

interface Documented {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, unknown> };
}

/** Of the sources as they are now: what `npm run openapi` writes may be older. */
const documents = () => {
  execFileSync(process.execPath, ['--import', 'tsx', 'tools/openapi/src/main.ts'], {
    cwd: ROOT,
    stdio: 'pipe',
  });
  return Object.entries(APPS).map(([host, app]) => ({
    host: host as keyof typeof OPERATIONS,
    paths: (jest.requireActual(join(ROOT, `dist/openapi/${app}.json`)) as { paths: object }).paths,
  }));
};

describe('the operations of the client', () => {
  it('are those of the documents, with the members where they are there', () => {
    const known = new Set<string>(Object.values(HEADERS));
    for (const { host, paths } of documents()) {
      const documented: Record<string, object> = {};
      for (const [path, methods] of Object.entries(paths as Record<string, Record<string, Documented>>))
        for (const [method, { operationId, parameters = [], requestBody }] of Object.entries(methods)) {
          const named = (place: string) =>
            parameters.filter((each) => each.in === place).map(({ name }) => name);
          const hasBody = requestBody !== undefined;
          documented[operationId] = {
            method: method.toUpperCase(),
            path,
            inPath: named('path').sort(),
            // What a body has as well is sent there.
            inQuery: hasBody
              ? named('query').filter(
                  (name) => !/^(?:utm_|cmeta_|api_key$)/.test(name) && name !== 'journeyId',
                )
              : [],
            isRaw: hasBody && !('application/json' in requestBody.content),
          };
          for (const header of named('header'))
            if (header !== 'If-None-Match') expect(known).toContain(header);
        }
      const ours = Object.entries(OPERATIONS[host]).map(([name, text]: [string, string]) => {
        const operation = parseOperation(text);
        return [name, { ...operation, inPath: [...operation.inPath].sort() }];
      });
      expect(Object.fromEntries(ours)).toEqual(documented);
    }
  }, 120_000);
});
