import { validateSync } from 'class-validator';
import { IsWebUrl } from './is-web-url.js';

class Urls {
  @IsWebUrl()
  url: unknown;
}
const messages = (object: object) =>
  validateSync(object).flatMap(({ constraints }) => Object.values(constraints ?? {}));

describe('IsWebUrl', () => {
  const isValid = (url: unknown) => messages(Object.assign(new Urls(), { url })).length === 0;

  it.each([
    'https://shop.example',
    'http://shop.example:8080/a?b=c&d=%20#e',
    'HTTPS://Shop.example/ü?q=ü',
    'https://[::1]/',
  ])('accepts %s', (url) => expect(isValid(url)).toBe(true));

  it.each([
    'shop.example',
    '/offer',
    '//shop.example',
    'ftp://shop.example',
    'javascript:alert(1)',
    'https://',
    'https://user@shop.example',
    'https://user:secret@shop.example',
    'https://shop.example/\n',
    ' https://shop.example',
    'https://shop.example/a b',
    'https://shop.example/\0',
    `https://shop.example/${'a'.repeat(2_048)}`,
    7,
    null,
    ['https://shop.example'],
  ])('rejects %j', (url) => expect(isValid(url)).toBe(false));
});
