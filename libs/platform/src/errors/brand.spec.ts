import { isBrandColor, isLogo } from './brand.js';

describe('a brand color', () => {
  it.each(['#000000', '#ffffff', '#FFD400', '#0f5c4c', '#e4002b', '#767676', '#7f7f7f'])(
    'may be %s',
    (color) => {
      expect(isBrandColor(color)).toBe(true);
    },
  );
  it.each(['#777777', '#7b7b7b', '#fff', 'red', '#12345g', '#0f5c4c80', ' #000000', '#000000\n', 0, null])(
    'may not be %j',
    (color) => {
      expect(isBrandColor(color)).toBe(false);
    },
  );
});

describe('a logo', () => {
  const dataUrl = (type: string, content: Buffer | string) =>
    `data:image/${type};base64,${Buffer.from(content as string).toString('base64')}`;
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(10)]);
  const jpeg = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(10)]);
  const webp = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1');
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';

  it.each([
    ['png', png],
    ['jpeg', jpeg],
    ['webp', webp],
    ['svg+xml', svg],
    ['svg+xml', `\ufeff<?xml version="1.0"?>\n${svg}`],
    ['svg+xml', `<!-- made by hand -->${svg}`],
  ] as const)('may be %s', (type, content) => {
    expect(isLogo(dataUrl(type, content))).toBe(true);
  });

  it.each([
    ['of another type', dataUrl('gif', 'GIF89a')],
    ['whose content has another type', dataUrl('png', jpeg)],
    ['that is an HTML page', dataUrl('svg+xml', '<html><svg/></html>')],
    ['that is empty', 'data:image/png;base64,'],
    ['that is not base64', 'data:image/png;base64,!!!!'],
    ['with parameters', dataUrl('png', png).replace(';base64', ';charset=x;base64')],
    ['with a line break', `${dataUrl('png', png)}\n`],
    ['that is too large', dataUrl('png', Buffer.concat([png, Buffer.alloc(64 * 1024)]))],
    ['at a URL', 'https://shop.example/logo.png'],
  ])('may not be one %s', (_, value) => {
    expect(isLogo(value)).toBe(false);
  });
});
