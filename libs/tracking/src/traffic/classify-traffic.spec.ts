import { classifyTraffic } from './classify-traffic.js';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

describe('classifyTraffic', () => {
  it.each([
    [{ 'user-agent': CHROME }, 'human', 'none'],
    [
      {
        'user-agent':
          'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
      },
      'human',
      'none',
    ],
    [
      { 'user-agent': 'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17726; Pro)' },
      'human',
      'none',
    ],
    [{ 'user-agent': CHROME, 'sec-purpose': 'prefetch;prerender' }, 'prefetch', 'header:sec-purpose'],
    [{ 'user-agent': CHROME, purpose: 'prefetch' }, 'prefetch', 'header:purpose'],
    [{ 'user-agent': CHROME, 'x-purpose': 'preview' }, 'prefetch', 'header:x-purpose'],
    [{ 'user-agent': CHROME, 'x-moz': 'prefetch' }, 'prefetch', 'header:x-moz'],
    [{ 'user-agent': CHROME, purpose: 'none' }, 'human', 'none'],
    [
      { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
      'bot',
      'user-agent:googlebot',
    ],
    [{ 'user-agent': 'curl/8.5.0' }, 'bot', 'user-agent:curl'],
    [{ 'user-agent': 'SomethingNobodyKnowsBot/1.0' }, 'bot', 'user-agent:other'],
    [{ 'user-agent': '  ' }, 'bot', 'user-agent:missing'],
    [{}, 'bot', 'user-agent:missing'],
    [
      {
        'user-agent':
          'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
      },
      'mail_proxy',
      'user-agent:google-image-proxy',
    ],
    [
      { 'user-agent': 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html' },
      'mail_proxy',
      'user-agent:yahoo-mail-proxy',
    ],
    [{ 'user-agent': 'Mozilla/5.0' }, 'mail_proxy', 'user-agent:apple-mail-privacy'],
    [{ 'user-agent': 'Barracuda Sentinel (EE)' }, 'mail_proxy', 'user-agent:barracuda'],
    [{ 'user-agent': `${CHROME} BingPreview/1.0b` }, 'mail_proxy', 'user-agent:bing-preview'],
  ])('%j is %s (%s)', (headers, expected, reason) => {
    expect(classifyTraffic(headers)).toEqual({ class: expected, reason });
    // Again, from the cache.
    expect(classifyTraffic(headers)).toEqual({ class: expected, reason });
  });

  it('never puts the user agent into the reason, however long it is and however many there are', () => {
    for (let i = 0; i < 12_000; i += 1) classifyTraffic({ 'user-agent': `secret-${i}-bot` });
    expect(classifyTraffic({ 'user-agent': `${'x'.repeat(10_000)} secret-bot` }).reason).not.toContain(
      'secret',
    );
    expect(classifyTraffic({ 'user-agent': CHROME }).class).toBe('human');
  });

  it('a long user agent is judged by its beginning', () => {
    const filler = ` ${CHROME}`.repeat(10);
    expect(classifyTraffic({ 'user-agent': `Googlebot/2.1${filler}` })).toEqual({
      class: 'bot',
      reason: 'user-agent:googlebot',
    });
    expect(classifyTraffic({ 'user-agent': `${CHROME}${filler} Googlebot/2.1` }).class).toBe('human');
  });
});
