import { conversionAmount, linkAmounts } from './step-amounts.js';

const links = (state: string, count: number, denomination = 25, currency = 'EUR') => ({
  'reward_links.state': state,
  'reward_links.count': String(count),
  'reward_links.denomination': String(denomination),
  'reward_links.currency': currency,
});

describe('linkAmounts', () => {
  it('counts links and their value by state, and those that are outstanding at the end of each range', () => {
    const [now, before, earlier] = linkAmounts([
      [links('revealed', 2), links('cancelled', 1, 10, 'USD')],
      [links('generated', 4), links('generated', 1, 10, 'USD'), links('expired', 1)],
      [links('generated', 1, 0.1), links('generated', 1, 0.2)],
    ]);
    expect(earlier!.outstanding).toEqual({ count: 2, money: new Map([['EUR', 0.3]]) });
    expect(before).toMatchObject({
      generated: {
        count: 5,
        money: new Map([
          ['EUR', 100],
          ['USD', 10],
        ]),
      },
      revealed: { count: 0, money: new Map() },
      expired: { count: 1, money: new Map([['EUR', 25]]) },
      outstanding: {
        count: 6,
        money: new Map([
          ['EUR', 75.3],
          ['USD', 10],
        ]),
      },
    });
    expect(now).toMatchObject({
      revealed: { count: 2, money: new Map([['EUR', 50]]) },
      outstanding: {
        count: 3,
        money: new Map([
          ['EUR', 25.3],
          ['USD', 0],
        ]),
      },
    });
  });
});

it('conversionAmount adds up values of each currency', () => {
  const rows = [
    { 'conversions.count': '2', 'conversions.value': '12.5', 'conversions.currency': 'EUR' },
    { 'conversions.count': '1', 'conversions.value': null, 'conversions.currency': null },
    { 'conversions.count': '1', 'conversions.value': '0.0004', 'conversions.currency': 'CLF' },
  ];
  const money = new Map([
    ['EUR', 12.5],
    ['CLF', 0.0004],
  ]);
  expect(conversionAmount(rows)).toEqual({ count: 4, money });
});
