import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/paths.js';

const text = readFileSync(join(ROOT, 'docs/security-tests.md'), 'utf8');
const [, section = ''] = /<!-- tests -->(.+)<!-- end -->/s.exec(text) ?? [];
const tests = [...section.matchAll(/`([^`]+)`/g)].map(([, path]) => path!);

it('docs/security-tests.md names existing tests', () => {
  expect(tests.length).toBeGreaterThan(30);
  expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
