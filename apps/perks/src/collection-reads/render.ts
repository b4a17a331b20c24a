import { fallbackChain, localize } from '@perkway/domain';
import type { LinkSigner, PreparedLink } from '@perkway/signing';
import type { Category, Collection, CollectionPerk, PlacedPerk } from '../catalog/collection.js';
import { TemplateBuilder, type ResponseTemplate } from './response-template.js';
import { matches, type PerkFilters } from './perk-filters.js';

export interface RenderSettings {
  signer: LinkSigner;
  /** The part of a click_url before its token. */
  linkPrefix: string;
  defaultLanguage: string;
}

const localizedCategory = ({ id, name, slug, translations }: Category, chain: readonly string[]) => ({
  id,
  name: localize('name', name, translations, chain),
  slug,
});

/** Renders a collection in one language as JSON. Specification section 2 defines the members. */
class Renderer {
  private readonly template = new TemplateBuilder();
  private readonly chain: string[];
  private readonly links = new Map<CollectionPerk, PreparedLink>();
  /** The JSON of a perk in three parts: before the link, from the link to the rank, and after the rank. */
  private readonly texts = new Map<CollectionPerk, [string, string, string]>();

  constructor(
    private readonly settings: RenderSettings,
    private readonly collection: Collection,
    private readonly language: string,
  ) {
    this.chain = fallbackChain(language, settings.defaultLanguage);
  }

  text(text: string) {
    this.template.text(text);
  }

  array<T>(items: readonly T[], each: (item: T) => void) {
    this.text('[');
    items.forEach((item, index) => {
      if (index > 0) this.text(',');
      each(item);
    });
    this.text(']');
  }

  perk({ perk, rank }: PlacedPerk) {
    const [head, middle, tail] = this.textsOf(perk);
    this.text(head);
    this.template.link(this.linkTo(perk));
    this.text(`${middle}${rank}${tail}`);
  }

  categories(categories: readonly Category[]) {
    this.text(JSON.stringify(categories.map((category) => localizedCategory(category, this.chain))));
  }

  groupName(name: string, translations: Collection['groups'][number]['translations']): string {
    return localize('name', name, translations, this.chain);
  }

  build(shown: readonly PlacedPerk[]): ResponseTemplate {
    return this.template.build(
      this.language,
      shown.map(({ perk }) => perk.id),
    );
  }

  private textsOf(perk: CollectionPerk): [string, string, string] {
    let texts = this.texts.get(perk);
    if (!texts) {
      const local = (field: 'title' | 'description' | 'callout' | 'redemption_note' | 'details') =>
        localize(field, perk[field], perk.translations, this.chain);
      const before = JSON.stringify({
        id: perk.id,
        title: local('title'),
        description: local('description'),
        callout: local('callout'),
        redemption_note: local('redemption_note'),
        details: local('details'),
      });
      const after = JSON.stringify({
        // Omitted when they do not apply: clients tell the types of perk apart by their presence.
        ...(perk.coupon === null ? {} : { coupon: perk.coupon }),
        ...(perk.is_coupon_perk ? { is_coupon_perk: true } : {}),
        metadata: perk.metadata,
        relations: {
          partner: { id: perk.partner.id, name: perk.partner.name },
          categories: perk.categories.map((category) => localizedCategory(category, this.chain)),
          media: { banner: perk.media.banner, logo: perk.media.logo },
          locations: perk.locations.map(({ country, region, city }) => ({ country, region, city })),
        },
      });
      const prefix = JSON.stringify(this.settings.linkPrefix).slice(0, -1);
      texts = [
        `${before.slice(0, -1)},"click_url":${prefix}`,
        `","offer_slug":${JSON.stringify(perk.offer_slug)},"rank":`,
        `,${after.slice(1)}`,
      ];
      this.texts.set(perk, texts);
    }
    return texts;
  }

  private linkTo(perk: CollectionPerk): PreparedLink {
    let link = this.links.get(perk);
    if (!link) {
      const { owner: account, id: collection } = this.collection;
      link = this.settings.signer.prepare({ account, collection, perk: perk.id });
      this.links.set(perk, link);
    }
    return link;
  }
}

export function renderCollection(
  settings: RenderSettings,
  collection: Collection,
  language: string,
  filters: PerkFilters,
): ResponseTemplate {
  const out = new Renderer(settings, collection, language);
  const isShown = ({ perk }: PlacedPerk) => matches(perk, filters);
  const shown = collection.perks.filter(isShown);
  out.text(`{"id":${JSON.stringify(collection.id)},"owner":${JSON.stringify(collection.owner)},"groups":`);
  out.array(collection.groups, ({ id, name, rank, translations, perks }) => {
    const shownName = out.groupName(name, translations);
    out.text(`${JSON.stringify({ id, name: shownName, rank }).slice(0, -1)},"perks":`);
    out.array(perks.filter(isShown), (placed) => out.perk(placed));
    out.text('}');
  });
  out.text(',"perks":');
  out.array(shown, (placed) => out.perk(placed));
  out.text('}');
  return out.build(shown);
}

export function renderPerk(
  settings: RenderSettings,
  collection: Collection,
  placed: PlacedPerk,
  language: string,
): ResponseTemplate {
  const out = new Renderer(settings, collection, language);
  out.perk(placed);
  return out.build([placed]);
}

export function renderCategories(
  settings: RenderSettings,
  collection: Collection,
  language: string,
): ResponseTemplate {
  const out = new Renderer(settings, collection, language);
  out.categories(collection.categories);
  // Reading the categories does not count as a view.
  return out.build([]);
}
