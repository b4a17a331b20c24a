import { Injectable } from '@nestjs/common';
import { inUse, invalidField, lastOf, TRACKING_EVENT_VERSION } from '@perkway/domain';
import {
  cleanTranslations,
  idsOf,
  listResources,
  KeysetPaginator,
  upsertResource,
  requireDeletable,
  requireFound,
  timesOf,
  type ListQuery,
  type Page,
  type Settings,
} from '@perkway/platform';
import { newEventId, TrackingService } from '@perkway/tracking';
import { DataSource, type EntityManager } from 'typeorm';
import { CatalogWriter } from '../catalog/catalog-writer.js';
import { PERK_TEXTS } from '../catalog/collection.js';
import { touchCollections } from '../catalog/touch-collections.js';
import { requireCategoryId } from '../categories/category-id.js';
import type { PerkResource, PutPerkDto } from './perk.dto.js';
import { PerkEntity } from './perk.entity.js';

function readBody(id: string, body: PutPerkDto): Settings<PerkResource> {
  return {
    id,
    title: body.title,
    description: body.description,
    callout: body.callout,
    redemption_note: body.redemption_note,
    details: body.details,
    offer_url: body.offer_url,
    offer_slug: body.offer_slug,
    ...(body.coupon == null ? {} : { coupon: body.coupon }),
    is_coupon_perk: body.is_coupon_perk ?? false,
    ...(body.codes_per_account == null ? {} : { codes_per_account: body.codes_per_account }),
    metadata: body.metadata ?? '',
    partner: { id: body.partner.id, name: body.partner.name },
    categories: [...body.categories].sort((a, b) => a - b),
    media: { banner: body.media?.banner ?? null, logo: body.media?.logo ?? null },
    locations: (body.locations ?? []).map(({ country, region, city }) => ({
      country,
      ...(region == null ? {} : { region }),
      ...(city == null ? {} : { city }),
    })),
    translations: cleanTranslations(body.translations, PERK_TEXTS),
  };
}

type PerkRow = PerkEntity & { categories: number[] };
/** Selects perks with the ids of their categories, ascending. */
const SELECT = `
  select p.*, array(select category_id from perk_categories where perk_id = p.id order by category_id) as categories
  from perks p`;

const toResource = ({ coupon, codes_per_account: quota, ...perk }: PerkRow): PerkResource => ({
  ...perk,
  ...(coupon === null ? {} : { coupon }),
  ...(quota === null ? {} : { codes_per_account: quota }),
  ...timesOf(perk),
});

/** Manages perks, which all accounts share. */
@Injectable()
export class PerksService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly writer: CatalogWriter,
    private readonly tracking: TrackingService,
    private readonly pages: KeysetPaginator,
  ) {}

  /** Returns a page sorted by id. @throws ApiError VALIDATION_FAILED */
  list(query: ListQuery): Promise<Page<PerkResource>> {
    const given = lastOf(query['category_id']);
    const category = given === undefined ? undefined : requireCategoryId(String(given), 'category_id');
    return listResources<PerkRow, PerkResource>(this.dataSource, this.pages, query, {
      name: 'perks',
      select: SELECT,
      search: ['id', 'title'],
      ids: idsOf(query),
      filter: (where) =>
        category !== undefined &&
        where.and`p.id in (select perk_id from perk_categories where category_id = ${category})`,
      toItem: toResource,
    });
  }

  /** @throws ApiError PERK_NOT_FOUND */
  async get(id: string): Promise<PerkResource> {
    return requireFound(await this.find(this.dataSource, id), 'PERK_NOT_FOUND');
  }

  /**
   * Creates or replaces a perk.
   * @throws ApiError PRECONDITION_FAILED; VALIDATION_FAILED for unknown categories, a coupon on a perk with single-use
   * codes, or codes_per_account on any other perk
   */
  put(id: string, body: PutPerkDto, ifMatch?: string): Promise<PerkResource> {
    const wanted = readBody(id, body);
    if (wanted.coupon !== undefined && wanted.is_coupon_perk)
      throw invalidField('coupon', 'must be absent on a perk with single-use codes');
    if (wanted.codes_per_account !== undefined && !wanted.is_coupon_perk)
      throw invalidField('codes_per_account', 'is only allowed on a perk with single-use codes');
    return this.writer.write(async (manager) => {
      await this.requireCategories(manager, wanted.categories);
      return upsertResource<PerkResource>(
        ifMatch,
        wanted,
        () => this.find(manager, id),
        async (times, current) => {
          const { categories, ...columns } = wanted;
          const row = {
            ...columns,
            ...times,
            coupon: columns.coupon ?? null,
            codes_per_account: columns.codes_per_account ?? null,
          };
          await manager.getRepository(PerkEntity).upsert(row, ['id']);
          await manager.query('delete from perk_categories where perk_id = $1', [id]);
          await manager.query(
            'insert into perk_categories (perk_id, category_id) select $1, unnest($2::integer[])',
            [id, categories],
          );
          const shown = 'id in (select collection_id from group_perks where perk_id = $1)';
          await touchCollections(manager, shown, [id]);
          if (current?.title !== wanted.title || current.partner.id !== wanted.partner.id)
            await this.trackName(manager, wanted);
        },
      );
    });
  }

  /** @throws ApiError PERK_NOT_FOUND, PRECONDITION_FAILED; IN_USE naming the collections that contain it */
  delete(id: string, ifMatch?: string): Promise<void> {
    return this.writer.write(async (manager) => {
      requireDeletable(ifMatch, await this.find(manager, id), 'PERK_NOT_FOUND');
      const users = await manager.query<{ collection_id: string }[]>(
        'select distinct collection_id from group_perks where perk_id = $1 order by collection_id',
        [id],
      );
      if (users.length > 0)
        throw inUse(
          'the collections',
          users.map(({ collection_id }) => collection_id),
        );
      await manager.query('delete from coupon_codes where perk_id = $1 and customer_id is null', [id]);
      await manager.delete(PerkEntity, id);
    });
  }

  /** Publishes the title and the partner, which analytics shows. */
  private async trackName(
    manager: EntityManager,
    { id, title, partner }: Settings<PerkResource>,
  ): Promise<void> {
    await this.tracking.trackInTransaction(manager, [
      {
        v: TRACKING_EVENT_VERSION,
        id: newEventId(),
        account: '',
        at: Date.now(),
        type: 'perk_named',
        perk: id,
        title,
        partner: partner.id,
      },
    ]);
  }

  private async find(manager: Pick<EntityManager, 'query'>, id: string): Promise<PerkResource | undefined> {
    const [perk] = await manager.query<PerkRow[]>(`${SELECT} where id = $1`, [id]);
    return perk && toResource(perk);
  }

  private async requireCategories(manager: EntityManager, wanted: number[]): Promise<void> {
    const rows = await manager.query<{ id: number }[]>(
      'select unnest($1::integer[]) as id except select id from categories order by id',
      [wanted],
    );
    if (rows.length > 0)
      throw invalidField(
        'categories',
        `must name existing categories; unknown: ${rows.map(({ id }) => id).join(', ')}`,
      );
  }
}
