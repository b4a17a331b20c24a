import {
  hasPlaceholder,
  isPrivateUrl,
  isUsablePlaceholder,
  linkHtml,
  personalUrl,
  pixelHtml,
  PLACEHOLDERS,
} from '../web/src/mail-snippets';

describe('a snippet for an email', () => {
  it('has the placeholder as the mailer writes it', () => {
    for (const placeholder of Object.values(PLACEHOLDERS)) {
      expect(isUsablePlaceholder(placeholder)).toBe(true);
      expect(linkHtml('https://boost.example/click?token=a', placeholder, 'Tea')).toContain(
        `&amp;journeyId=${placeholder}"`,
      );
    }
  });

  it('escapes ampersands and titles in HTML, and nothing in a URL', () => {
    expect(linkHtml('https://boost.example/click?a=1&b=2', '*|UNIQID|*', 'Tea & "cake" <b>')).toBe(
      '<a href="https://boost.example/click?a=1&amp;b=2&amp;journeyId=*|UNIQID|*">Tea &amp; &quot;cake&quot; &lt;b&gt;</a>',
    );
    expect(personalUrl('https://boost.example/click?a=1&b=2', '*|UNIQID|*')).toBe(
      'https://boost.example/click?a=1&b=2&journeyId=*|UNIQID|*',
    );
  });

  it('begins the query of a pixel without one', () => {
    expect(pixelHtml('https://boost.example/teaser', '{{id}}')).toContain(
      'src="https://boost.example/teaser?journeyId={{id}}"',
    );
  });

  it('refuses placeholders that would end the attribute or the value', () => {
    for (const text of ['', ' ', '{{ "id" }}', '<%= id %>', 'a&b', '#id#'])
      expect(isUsablePlaceholder(text)).toBe(false);
  });

  it('refuses a bare word as a placeholder', () => {
    expect(isUsablePlaceholder('id')).toBe(false);
    for (const text of ['{id}', '[id]', '-id-', '__ID__', '$id'])
      expect(isUsablePlaceholder(text)).toBe(true);
  });
});

describe('the id of a journey', () => {
  it.each([...Object.values(PLACEHOLDERS), '[[id]]', '{{id', 'id}}', '*|id', 'id|*', '%%id'])(
    'still has the placeholder in %s, also percent-encoded',
    (id) => {
      for (const text of [id, encodeURIComponent(id), encodeURIComponent(id).toLowerCase()])
        expect(hasPlaceholder(text, '*|UNIQID|*')).toBe(true);
    },
  );

  it('still has a placeholder of its own kind', () => {
    for (const id of ['$id', '%24id']) expect(hasPlaceholder(id, '$id')).toBe(true);
    expect(hasPlaceholder('customer-1', '')).toBe(false);
  });

  it.each(['customer-1', 'ann & bob=1', '100%', '{a}', 'a|b', '[7]', 'ann%40mail.example'])(
    'has no placeholder in %s',
    (id) => expect(hasPlaceholder(id, '*|UNIQID|*')).toBe(false),
  );
});

it.each([
  'localhost:4003',
  '127.0.0.1',
  '10.1.2.3',
  '192.168.0.9',
  '172.20.0.2',
  'boost',
  'boost.internal',
  '[::1]',
  '[fd00::1]',
])('knows that recipients cannot open links to %s', (host) =>
  expect(isPrivateUrl(`http://${host}/click`)).toBe(true),
);

it.each(['boost.perkway.example', '172.15.0.1', '11.0.0.1', 'local.example', '[2a00::1]'])(
  'takes %s for a host that recipients can reach',
  (host) => expect(isPrivateUrl(`https://${host}/click`)).toBe(false),
);
