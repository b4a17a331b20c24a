import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAULTS } from '../src/faults';
import { planted } from '../src/planted';

const ROOT = join(__dirname, '../../..');

describe('the list of faults', () => {
  it.each(FAULTS.map((fault) => [fault.file, fault.search, fault] as const))(
    'can be planted: %s: %s',
    (file, _search, fault) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      expect(planted(text, fault)).not.toBe(text);
      expect(existsSync(join(ROOT, fault.spec))).toBe(true);
    },
  );

  it('rejects a text that occurs twice or not at all', () => {
    const fault = { file: 'a.ts', search: 'x', replacement: 'y', spec: 'a.spec.ts' };
    expect(planted('axb', fault)).toBe('ayb');
    expect(() => planted('ab', fault)).toThrow('a.ts does not contain: x');
    expect(() => planted('xx', fault)).toThrow('a.ts contains more than once: x');
  });
});
