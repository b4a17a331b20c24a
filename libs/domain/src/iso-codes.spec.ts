import { isCountry, isCurrency } from './iso-codes.js';

describe('ISO codes', () => {
  it.each(['EUR', 'USD', 'JPY', 'HRK', 'XTS'])('%s is a currency', (code) =>
    expect(isCurrency(code)).toBe(true),
  );
  it.each(['eur', 'ABC', 'EURO', '', 'EU', ' EUR', 978, null, ['EUR']])('%j is no currency', (code) =>
    expect(isCurrency(code)).toBe(false),
  );
  it.each(['DE', 'GB', 'ZW'])('%s is a country', (code) => expect(isCountry(code)).toBe(true));
  it.each(['de', 'UK', 'EU', 'DEU', '', 'ZZ', undefined, ['DE']])('%j is no country', (code) =>
    expect(isCountry(code)).toBe(false),
  );
});
