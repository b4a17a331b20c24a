import { fitsCurrency, isCountry, isCurrency } from './iso-codes.js';

describe('ISO codes', () => {
  it.each(['EUR', 'USD', 'JPY', 'HRK', 'XTS'])('%s is a currency', (code) =>
    expect(isCurrency(code)).toBe(true),
  );
  it.each(['eur', 'ABC', 'EURO', '', 'EU', ' EUR', 978, null, ['EUR']])('%j is not a currency', (code) =>
    expect(isCurrency(code)).toBe(false),
  );
  it.each(['DE', 'GB', 'ZW'])('%s is a country', (code) => expect(isCountry(code)).toBe(true));
  it.each(['de', 'UK', 'EU', 'DEU', '', 'ZZ', undefined, ['DE']])('%j is not a country', (code) =>
    expect(isCountry(code)).toBe(false),
  );
  it.each([
    [12.34, 'EUR'],
    [1_000, 'JPY'],
    [1.234, 'KWD'],
    // HUF has two decimals in ISO 4217, although shops use none.
    [12.5, 'HUF'],
    [1.2345, 'CLF'],
    [1.5, 'XTS'],
    [1e15, 'EUR'],
  ])('accepts the amount %d %s', (amount, currency) => expect(fitsCurrency(amount, currency)).toBe(true));
  it.each([
    [12.345, 'EUR'],
    [1e-7, 'USD'],
    [0.1 + 0.2, 'USD'],
    [0.5, 'JPY'],
    [10.5, 'ISK'],
    [1.2345, 'KWD'],
  ])('rejects the amount %d %s', (amount, currency) => expect(fitsCurrency(amount, currency)).toBe(false));
});
