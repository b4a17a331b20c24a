import { metaPieces, titleOf } from './meta.js';
import { dimensionOfAttribute, modelFor, type Model } from './model.js';

interface Meta {
  cubes: { name: string; measures: { name: string }[]; dimensions: { name: string }[] }[];
}
const metaOf = (model: Model) => JSON.parse([...metaPieces(model)].join('')) as Meta;

describe('titles', () => {
  it.each([
    ['perk_views', 'Perk Views'],
    ['count_people', 'Count People'],
    ['utm_source', 'Utm Source'],
    ['perk_id', 'Perk ID'],
    ['cmeta_userId', 'Cmeta User ID'],
    ['cmeta__proto__', 'Cmeta Proto'],
    ['idea', 'Idea'],
  ])('%s', (name, title) => {
    expect(titleOf(name)).toBe(title);
  });
});

describe('the model of an account', () => {
  const names = (attributes: string[], cube: string) =>
    metaOf(modelFor(attributes.map((name) => ({ name }))))
      .cubes.find(({ name }) => name === cube)!
      .dimensions.map(({ name }) => name.slice(cube.length + 1));

  it('has one dimension per attribute on every cube with attributes, even if several names fold onto it', () => {
    for (const cube of [
      'perk_views',
      'perk_clicks',
      'teaser_views',
      'reward_views',
      'incentive_clicks',
      'conversions',
      'reward_links',
    ])
      expect(names(['user-id', 'user_id', '__proto__', 'Plan'], cube)).toEqual(
        expect.arrayContaining(['cmeta', 'cmeta_user_id', 'cmeta___proto__', 'cmeta_Plan']),
      );
    expect(
      names(['user-id', 'user_id'], 'perk_clicks').filter((name) => name.startsWith('cmeta_')),
    ).toHaveLength(1);
    expect(names([], 'perk_clicks').some((name) => name.startsWith('cmeta_'))).toBe(false);
  });

  it('only lets names of letters, digits, - and _ into the SQL', () => {
    expect(names(["a'b", 'a b', ''], 'perk_clicks').some((name) => name.startsWith('cmeta_'))).toBe(false);
    expect(dimensionOfAttribute('a-b_c')).toBe('cmeta_a_b_c');
  });

  it('has the documented members', () => {
    const members = Object.fromEntries(
      metaOf(modelFor([])).cubes.map(({ name, measures }) => [
        name,
        measures.map((each) => each.name.split('.')[1]!),
      ]),
    );
    expect(members).toEqual({
      perk_views: ['count', 'count_people'],
      perk_clicks: ['count', 'count_people', 'journeys'],
      teaser_views: ['count', 'count_people', 'journeys'],
      reward_views: ['count', 'count_people', 'journeys'],
      incentive_clicks: ['count', 'count_people', 'journeys'],
      conversions: ['count', 'count_people', 'journeys', 'value'],
      reward_links: ['count', 'journeys'],
      campaign_funnel: [
        'journeys',
        'teaser_viewers',
        'reward_viewers',
        'clickers',
        'converters',
        'gift_recipients',
        'gift_openers',
        'gift_only_recipients',
        'click_rate',
        'journey_conversion_rate',
        'conversion_rate',
        'events_without_journey',
      ],
    });
  });
});
