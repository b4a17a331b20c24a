import type { DataSource } from 'typeorm';
import type {
  Category,
  Collection,
  CollectionGroup,
  CollectionPerk,
  PerkLocation,
  PerkText,
  PlacedPerk,
} from './collection.js';

type StoredTranslations = Record<string, Record<string, string>>;

interface StoredCollection {
  id: string;
  owner: string;
  revision: string;
  groups: {
    id: string;
    name: string;
    rank: number;
    translations: StoredTranslations;
    perks: [id: string, rank: number][];
  }[];
  perks: (Record<PerkText, string> & {
    id: string;
    offer_slug: string;
    coupon: string | null;
    is_coupon_perk: boolean;
    metadata: string;
    partner: { id: string; name: string };
    media: { banner: string | null; logo: string | null };
    locations: PerkLocation[];
    translations: StoredTranslations;
    categories: number[];
  })[];
  categories: { id: number; slug: string; name: string; translations: StoredTranslations }[];
}

/** One statement, so that all parts come from one snapshot. */
const LOAD = `
  with
  -- The collection, its entries, their perks, and the categories of those perks.
  wanted as (select id, owner, revision from collections where id = $1),
  placed as (select * from group_perks where collection_id = $1),
  shown as (select * from perks where id in (select perk_id from placed)),
  filed as (select pc.* from perk_categories pc join shown on shown.id = pc.perk_id)
  select w.id, w.owner, w.revision,
    -- Groups by rank, each with [perk, rank] pairs.
    coalesce((
      select json_agg(json_build_object(
        'id', g.id, 'name', g.name, 'rank', g.rank, 'translations', g.translations,
        'perks', coalesce(p.perks, '[]')
      ) order by g.rank, g.position)
      from perk_groups g
      left join (
        select group_id, json_agg(json_build_array(perk_id, rank) order by rank, position) as perks
        from placed group by group_id
      ) p on p.group_id = g.id
      where g.collection_id = w.id
    ), '[]') as groups,
    -- Each perk once, with the ids of its categories.
    coalesce((
      select json_agg(json_build_object(
        'id', s.id, 'title', s.title, 'description', s.description, 'callout', s.callout,
        'redemption_note', s.redemption_note, 'details', s.details, 'offer_slug', s.offer_slug,
        'coupon', s.coupon, 'is_coupon_perk', s.is_coupon_perk, 'metadata', s.metadata, 'partner', s.partner,
        'media', s.media, 'locations', s.locations, 'translations', s.translations,
        'categories', coalesce(f.categories, '[]')
      ))
      from shown s
      left join (
        select perk_id, json_agg(category_id order by category_id) as categories from filed group by perk_id
      ) f on f.perk_id = s.id
    ), '[]') as perks,
    -- Each category once.
    coalesce((
      select json_agg(json_build_object(
        'id', c.id, 'slug', c.slug, 'name', c.name, 'translations', c.translations
      ) order by c.id)
      from categories c where c.id in (select category_id from filed)
    ), '[]') as categories
  from wanted w`;

/** Loads the collection from the database; returns undefined if it does not exist. */
export async function loadCollection(dataSource: DataSource, id: string): Promise<Collection | undefined> {
  const [row] = await dataSource.query<StoredCollection[]>(LOAD, [id]);
  return row && toCollection(row);
}

export function toCollection(stored: StoredCollection): Collection {
  const languages = new Map<string, string>();
  const translations = <Field extends string>(given: StoredTranslations) => {
    const byTag = new Map<string, Partial<Record<Field, string>>>();
    for (const [tag, texts] of Object.entries(given)) {
      languages.set(tag.toLowerCase(), tag);
      byTag.set(tag.toLowerCase(), texts as Partial<Record<Field, string>>);
    }
    return byTag;
  };

  const categories: Category[] = stored.categories.map((category) => ({
    ...category,
    translations: translations<'name'>(category.translations),
  }));
  const categoryById = new Map(categories.map((category) => [category.id, category]));
  const perkById = new Map<string, CollectionPerk>(
    stored.perks.map((perk) => [
      perk.id,
      {
        ...perk,
        translations: translations<PerkText>(perk.translations),
        categories: perk.categories.map((id) => categoryById.get(id)!),
      },
    ]),
  );
  const groups: CollectionGroup[] = stored.groups.map((group) => ({
    ...group,
    translations: translations<'name'>(group.translations),
    perks: group.perks.map(([id, rank]): PlacedPerk => ({ perk: perkById.get(id)!, rank })),
  }));

  const lowest = new Map<string, PlacedPerk>();
  for (const { perks } of groups)
    for (const placed of perks) {
      const known = lowest.get(placed.perk.id);
      if (!known || placed.rank < known.rank) lowest.set(placed.perk.id, placed);
    }
  const { id, owner, revision } = stored;
  return {
    id,
    owner,
    revision,
    groups,
    // The sort is stable: perks of equal rank stay in the order of their groups.
    perks: [...lowest.values()].sort((a, b) => a.rank - b.rank),
    perksById: lowest,
    categories,
    languages,
  };
}
