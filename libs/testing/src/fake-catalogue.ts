import { RESOLVE_OFFERS, RESOLVE_PERKS, type ResolvedPerk } from '@perkway/domain';
import { respond } from './rpc-responder.js';

/**
 * Replaces perks on a real broker: resolves the offer URLs and texts of perks. A perk exists while `offers` has it.
 * `shown` overrides the default texts for all perks, or per perk and language if it is a function.
 */
export async function fakeCatalogue(
  natsUrl: string,
  offers: ReadonlyMap<string, string>,
  shown: Partial<ResolvedPerk> | ((id: string, language: string) => Partial<ResolvedPerk>) = {},
): Promise<{ close(): Promise<void> }> {
  const known = <Value>(ids: string[], value: (id: string) => Value): Record<string, Value> =>
    Object.fromEntries(ids.filter((id) => offers.has(id)).map((id) => [id, value(id)]));
  const responders = await Promise.all([
    respond(natsUrl, RESOLVE_OFFERS, ({ ids }) => known(ids, (id) => offers.get(id)!)),
    respond(natsUrl, RESOLVE_PERKS, ({ ids, language = 'en' }) =>
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
      await Promise.all(responders.map((each) => each.close()));
    },
  };
}
