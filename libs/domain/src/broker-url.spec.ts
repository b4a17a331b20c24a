import { asBrokerUser, parseBrokerUrl } from './broker-url';

describe('parseBrokerUrl', () => {
  it.each([
    ['nats://127.0.0.1:4229', { servers: ['127.0.0.1:4229'], tls: false }],
    ['nats://broker', { servers: ['broker:4222'], tls: false }],
    ['tls://[::1]:4000', { servers: ['[::1]:4000'], tls: true }],
    [
      'nats://perks:p%40ss%3Aword@a, nats://b:1',
      { servers: ['a:4222', 'b:1'], user: 'perks', password: 'p@ss:word', tls: false },
    ],
    ['nats://u:1@a:1,nats://u:1@b:2', { servers: ['a:1', 'b:2'], user: 'u', password: '1', tls: false }],
    ['nats://s3cret@a', { servers: ['a:4222'], token: 's3cret', tls: false }],
  ])('reads %s', (text, expected) => expect(parseBrokerUrl(text)).toEqual(expected));

  it.each([
    '',
    'broker:4222',
    'http://broker',
    'nats://a,',
    'nats://a,tls://b',
    'nats://u:1@a,nats://u:2@b',
    'nats://u:%zz@a',
  ])('rejects %p without repeating it in the error', (text) => {
    expect(() => parseBrokerUrl(text)).toThrow(/^must|malformed/);
    expect(() => parseBrokerUrl(text)).not.toThrow(/u:|zz|broker:/);
  });

  it('sets another user for all servers', () => {
    const url = asBrokerUser('nats://operator:x@a:1,nats://b', 'perks', 'p@ss');
    expect(parseBrokerUrl(url)).toEqual({
      servers: ['a:1', 'b:4222'],
      user: 'perks',
      password: 'p@ss',
      tls: false,
    });
  });
});
