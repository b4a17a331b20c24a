import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { redirectTarget } from './redirect-target.js';

it.each([
  'https://shop.example/offer?a=1&b=%20#top',
  'http://SHOP.example',
  'https://shop.example:8443/a/../b',
  'https://shop.example/?next=https://a:b@other.example/',
])('%s is used verbatim', (url) => expect(redirectTarget(url)).toBe(url));

it.each([
  ['https://shop.example/für?q=a b', 'https://shop.example/f%C3%BCr?q=a%20b'],
  ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
  ['https://shop.example\\offer', 'https://shop.example/offer'],
  // A backslash ends the host, so the rest is a path of the first host, not userinfo.
  ['https://shop.example\\@other.example', 'https://shop.example/@other.example'],
  ['https://shop.example/a\r\nSet-Cookie: b', 'https://shop.example/aSet-Cookie:%20b'],
])('%j is written as %s', (url, written) => expect(redirectTarget(url)).toBe(written));

it('the host of a URL is written in ASCII, however many URLs came before', () => {
  // In a process of its own, because V8 optimizes less in Jest.
  const script = `
    import { redirectTarget } from ${JSON.stringify(pathToFileURL(join(__dirname, 'redirect-target.ts')).href)};
    const results = new Set();
    for (let nth = 0; nth < 100_000; nth += 1) results.add(redirectTarget('https://münchen.example/'));
    process.stdout.write([...results].join());`;
  const options = ['--import', 'tsx', '--input-type=module', '--eval', script];
  expect(execFileSync(process.execPath, options, { encoding: 'utf8' })).toBe(
    'https://xn--mnchen-3ya.example/',
  );
});

it.each([
  '',
  '/offer',
  '//shop.example',
  'javascript:alert(1)',
  'data:text/html,hi',
  'ftp://shop.example',
  ' https://shop.example',
  'https://',
  'https://user@shop.example',
  'https://user:secret@shop.example',
])('%j is not a redirect target', (url) => expect(redirectTarget(url)).toBeUndefined());
