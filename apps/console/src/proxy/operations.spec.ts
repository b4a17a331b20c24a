import { operationOf } from './operations.js';

describe('the operations allowed to the pages', () => {
  it.each(['/campaigns/a', '/campaigns/a%2Fb', '/campaigns/a..b', '/campaigns/...'])('include %s', (path) => {
    expect(operationOf('boost', 'GET', path)).toBeDefined();
  });

  // `fetch` would normalize each of these to another path.
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
  ])('do not include %j', (path) => {
    expect(operationOf('boost', 'GET', path)).toBeUndefined();
  });
});
