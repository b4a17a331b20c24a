import fc from 'fast-check';
import { tokenOfAddress, tokenOfText } from '../../src/page/token.js';
import { aLinkToken } from '@perkway/testing';

const TOKEN = 'AQJr-k3vQ0b1mY9sN2xR7tLw5pC8dF4gH6jA_uE-iOaKzXqB0c-';

describe('tokenOfAddress', () => {
  it.each([
    ['the fragment', '/', `#${TOKEN}`],
    ['a fragment followed by tracking parameters', '/', `#${TOKEN}?utm_source=x`],
    ['a fragment followed by a period', '/', `#${TOKEN}.`],
    ['an encoded path', `/%23${TOKEN}`, ''],
    ['a path encoded twice', `/%2523${TOKEN}`, ''],
    ['a path followed by other characters', `/%23${TOKEN}%20%`, ''],
    ['a fragment on any path', '/some/where', `#${TOKEN}`],
  ])('finds the token in %s', (_what, path, fragment) => {
    expect(tokenOfAddress(path, fragment)).toBe(TOKEN);
  });

  it.each([
    ['nothing', '/', ''],
    ['an empty fragment', '/', '#'],
    ['a word', '/', '#main'],
    ['a path without a fragment', `/${TOKEN}`, ''],
  ])('finds none in %s', (_what, path, fragment) => {
    expect(tokenOfAddress(path, fragment)).toBeNull();
  });
});

describe('tokenOfText', () => {
  it.each([
    ['a link', `https://rewards.example.com/#${TOKEN}`],
    ['a link surrounded by spaces', `  https://rewards.example.com/#${TOKEN} \n`],
    ['a link in a sentence', `Hello, your card: https://rewards.example.com/#${TOKEN} - have fun!`],
    ['a link with a language', `https://rewards.example.com/?lang=fr#${TOKEN}`],
    ['a mangled link', `https://rewards.example.com/%23${TOKEN}`],
    ['a link over two lines', `https://rewards.example.com/#${TOKEN.slice(0, 10)}\n${TOKEN.slice(10)}`],
    [
      'a link over two lines, wrapped late',
      `https://rewards.example.com/#${TOKEN.slice(0, 49)}\r\n${TOKEN.slice(49)}`,
    ],
    [
      'a link over three lines',
      `https://rewards.example.com/#${TOKEN.slice(0, 20)}\n ${TOKEN.slice(20, 40)} \n${TOKEN.slice(40)}`,
    ],
    [
      'a link over two lines of a quoted mail',
      `> https://rewards.example.com/#${TOKEN.slice(0, 30)}\n> > ${TOKEN.slice(30)}`,
    ],
    [
      'a link over two lines of quoted-printable text',
      `https://rewards.example.com/#${TOKEN.slice(0, 46)}=\r\n${TOKEN.slice(46)}`,
    ],
    [
      'a link over two lines, wrapped at its end, before words',
      `https://rewards.example.com/#${TOKEN.slice(0, 50)} ${TOKEN.slice(50)} Enjoy!`,
    ],
    ['a link wrapped at spaces', `https://rewards.exam ple.com/ # ${TOKEN.replace(/.{9}/g, '$& ')}`],
    ['a link without the line break before the next word', `https://rewards.example.com/#${TOKEN}Enjoy!`],
    ['a link before words of its own letters', `https://rewards.example.com/#${TOKEN}\nfor you`],
    ['a link in brackets', `<https://rewards.example.com/#${TOKEN}>`],
    ['the token alone', ` ${TOKEN}`],
  ])('finds the token in %s', (_what, text) => {
    expect(tokenOfText(text)).toBe(TOKEN);
  });

  it('finds tokens of every length of a key id', () => {
    for (let length = 1; length <= 8; length += 1) {
      const token = Buffer.concat([Buffer.of(1, length), Buffer.alloc(length + 34, 'x')]).toString(
        'base64url',
      );
      expect(
        tokenOfText(`https://rewards.example.com/#${token.slice(0, 40)} ${token.slice(40)} for you`),
      ).toBe(token);
    }
  });

  it.each([
    '',
    'hello',
    'https://rewards.example.com/',
    'Somebody has sent you a gift card, open it!',
    '#abc',
  ])('finds none in "%s"', (text) => {
    expect(tokenOfText(text)).toBeNull();
  });

  it('finds every possible token, and never throws', () => {
    for (let tried = 0; tried < 100; tried += 1) {
      const token = aLinkToken();
      expect(tokenOfText(`https://rewards.example.com/#${token}`)).toBe(token);
      expect(tokenOfAddress('/', `#${token}`)).toBe(token);
    }
    fc.assert(fc.property(fc.string(), (text) => tokenOfText(text) === null || /\S{20}/.test(text)));
  });
});
