import { slugOf } from '@perkway/domain/slug';

import type { Category, InFile, Perk } from './resources.js';

/** Makes the id of a perk from its partner and title. */
export const perkIdOf = ({ partner, title }: { partner: { name: string }; title: string }): string =>
  slugOf(`${partner.name} ${title}`);

/** What the rows of a CSV may name instead of giving its id, besides the partners of the perks themselves. */
export interface Named {
  categories: Pick<Category, 'id' | 'name'>[];
  partners: Perk['partner'][];
}

/** Returns whether `completePerk` needs the partners' ids. */
export const lacksPartnerId = ({ partner }: Perk): boolean => Boolean(partner?.name && !partner.id);

/** Returns whether the perk has a category that is not a number. */
export const namesCategories = ({ categories }: Perk): boolean =>
  categories.some((category) => typeof category === 'string');

const folded = (name: unknown): string => String(name).toLowerCase();

/**
 * Adds the ids that rows of a CSV lack, as the console's form does: those of the perk, its offer and its partner. A known
 * partner keeps its id. Replaces names of categories by ids. Leaves perks of YAML files as they are. Changes the perks in
 * place, because problems refer to them.
 */
export function completePerks(perks: InFile<Perk>[], { categories, partners }: Named): void {
  const known = [...perks.flatMap(({ partner }) => (partner?.id ? partner : [])), ...partners];
  const partnerIds = new Map(known.map(({ id, name }) => [name, id]));
  const categoryIds = new Map(categories.map(({ id, name }) => [folded(name), id]));
  for (const perk of perks) {
    if (perk.row === undefined) continue;
    const { title, partner } = perk;
    if (lacksPartnerId(perk)) setIfMade(partner, 'id', partnerIds.get(partner.name) ?? slugOf(partner.name));
    if (title && !perk.offer_slug) setIfMade(perk, 'offer_slug', slugOf(title));
    if (title && partner?.name && !perk.id) setIfMade(perk, 'id', perkIdOf(perk));
    // A number is an id, also if a category has a number as its name.
    perk.categories = perk.categories.map((category) =>
      typeof category === 'string' ? (categoryIds.get(folded(category)) ?? category) : category,
    );
  }
}

/** A name without Latin letters or digits makes no id. */
function setIfMade<M extends string>(target: { [member in M]: string }, member: M, id: string): void {
  if (id !== '') target[member] = id as (typeof target)[M];
}
