import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');

it('the pictures of the README exist, and are small', () => {
  const readme = readFileSync(resolve(ROOT, 'README.md'), 'utf8');
  const pictures = [...readme.matchAll(/src="(docs\/pictures\/[\w-]+\.webp)"/g)].map(([, path]) => path!);
  expect(pictures).toHaveLength(2);
  for (const path of pictures) {
    const picture = readFileSync(resolve(ROOT, path));
    expect(picture.subarray(8, 12).toString()).toBe('WEBP');
    expect(picture.length).toBeLessThan(60_000);
  }
});
