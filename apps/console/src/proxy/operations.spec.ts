import { operationOf } from './operations.js';

describe('an operation that the pages may call', () => {
  it.each(['/campaigns/a', '/campaigns/a%2Fb', '/campaigns/a..b', '/campaigns/...'])('is %s', (path) => {
    expect(operationOf('boost', 'GET', path)).toBeDefined();
  });

  // Each of these is read as another address by what sends it on.
  it.each([
    '/campaigns/..',
    '/campaigns/.%2E',
    '/campaigns/..\\rewards\\spring',
    '/campaigns/a\\b',
    '/campaigns/a#b',
    '/campaigns/%2e%2e\\click',
    '/teasers/\t..\t',
    '//other.example/campaigns/a',
    '/campaigns/é',
  ])('is not %j', (path) => {
    expect(operationOf('boost', 'GET', path)).toBeUndefined();
  });
});
