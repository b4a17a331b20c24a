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
