import { RESOLVE_OFFERS, RESOLVE_PERKS, type ResolvedPerk } from '@perkway/domain';
import { answer } from './answer.js';

/**
 * Stands in for perks on a real broker: answers where perks lead and how they are shown. Perks that have an offer URL
 * at the moment exist; `shown` says what is not to be as it is with all of them, of one perk in one language if it is a
 * function.
 */
export async function fakeCatalogue(
  natsUrl: string,
  offers: ReadonlyMap<string, string>,
  shown: Partial<ResolvedPerk> | ((id: string, language: string) => Partial<ResolvedPerk>) = {},
): Promise<{ close(): Promise<void> }> {
  const known = <Value>(ids: string[], value: (id: string) => Value): Record<string, Value> =>
    Object.fromEntries(ids.filter((id) => offers.has(id)).map((id) => [id, value(id)]));
  const answering = await Promise.all([
    answer(natsUrl, RESOLVE_OFFERS, ({ ids }) => known(ids, (id) => offers.get(id)!)),
    answer(natsUrl, RESOLVE_PERKS, ({ ids, language = 'en' }) =>
      known(ids, (id) => ({
        title: `Title of ${id}`,
        callout: '25% off',
        description: 'Long text',
        redemptionNote: '',
        details: '',
        coupon: null,
        media: { banner: null, logo: 'https://cdn.example/logo.svg' },
        language,
        languages: [],
        ...(typeof shown === 'function' ? shown(id, language) : shown),
      })),
    ),
  ]);
  return {
    close: async () => {
      await Promise.all(answering.map((each) => each.close()));
    },
  };
}
