import { Injectable } from '@nestjs/common';
import { invalidField, TRACKING_EVENT_VERSION } from '@perkway/domain';
import { newEventId, TrackingService } from '@perkway/tracking';
import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import { CatalogWriter } from '../catalog/catalog-writer.js';
import { PERK_TEXTS } from '../catalog/collection.js';
import { touchCollections } from '../catalog/touch-collections.js';
import { cleanTranslations } from '../text/validators.js';
import type { PerkResource, PutPerkDto } from './perk.dto.js';
import { PerkEntity } from './perk.entity.js';

function toResource(id: string, body: PutPerkDto): PerkResource {
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

@Injectable()
export class PerksService {
  constructor(
    private readonly writer: CatalogWriter,
    private readonly tracking: TrackingService,
  ) {}

  /**
   * Makes or replaces a perk. The catalogue is common to all accounts.
   * @throws DomainError VALIDATION_FAILED naming an unknown category, or a coupon on a single-use perk
   */
  put(id: string, body: PutPerkDto): Promise<PerkResource> {
    const wanted = toResource(id, body);
    if (wanted.coupon !== undefined && wanted.is_coupon_perk)
      throw invalidField('coupon', 'must be absent on a perk that is redeemed by single-use codes');
    return this.writer.write(async (manager) => {
      await this.requireCategories(manager, wanted.categories);
      const current = await this.find(manager, id);
      if (current && isDeepStrictEqual(current, wanted)) return wanted;
      const { categories, ...columns } = wanted;
      await manager.getRepository(PerkEntity).upsert({ ...columns, coupon: columns.coupon ?? null }, ['id']);
      await manager.query('delete from perk_categories where perk_id = $1', [id]);
      await manager.query(
        'insert into perk_categories (perk_id, category_id) select $1, unnest($2::integer[])',
        [id, categories],
      );
      await touchCollections(manager, 'id in (select collection_id from group_perks where perk_id = $1)', [
        id,
      ]);
      if (current?.title !== wanted.title || current.partner.id !== wanted.partner.id)
        // The analytics views show the title and group by the partner.
        await this.tracking.trackInTransaction(manager, [
          {
            v: TRACKING_EVENT_VERSION,
            id: newEventId(),
            account: '',
            at: Date.now(),
            type: 'perk_named',
            perk: id,
            title: wanted.title,
            partner: wanted.partner.id,
          },
        ]);
      return wanted;
    });
  }

  private async find(manager: EntityManager, id: string): Promise<PerkResource | undefined> {
    const perk = await manager.getRepository(PerkEntity).findOneBy({ id });
    if (!perk) return undefined;
    const rows = await manager.query<{ category_id: number }[]>(
      'select category_id from perk_categories where perk_id = $1 order by category_id',
      [id],
    );
    const { coupon, ...columns } = perk;
    return {
      ...columns,
      ...(coupon === null ? {} : { coupon }),
      categories: rows.map(({ category_id }) => category_id),
    };
  }

  private async requireCategories(manager: EntityManager, wanted: number[]): Promise<void> {
    const rows = await manager.query<{ id: number }[]>(
      'select unnest($1::integer[]) as id except select id from categories order by id',
      [wanted],
    );
    if (rows.length > 0)
      throw invalidField('categories', `must exist: ${rows.map(({ id }) => id).join(', ')} is unknown`);
  }
}
