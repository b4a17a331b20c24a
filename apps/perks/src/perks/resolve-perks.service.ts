import { Injectable } from '@nestjs/common';
import { canonicalLanguage, fallbackChain, redirectTarget, type ResolvedPerk } from '@perkway/domain';
import { DataSource } from 'typeorm';
import { PERK_TEXTS } from '../catalog/collection.js';

interface PerkRow extends Omit<ResolvedPerk, 'redemptionNote' | 'language'> {
  id: string;
  redemption_note: string;
}

/** Looks up the texts and offer URLs of perks for other apps. Unknown ids are absent from the result. */
@Injectable()
export class ResolvePerksService {
  constructor(private readonly dataSource: DataSource) {}

  async offers(ids: string[]): Promise<Record<string, string>> {
    const rows = await this.dataSource.query<{ id: string; offer_url: string }[]>(
      'select id, offer_url from perks where id = any($1)',
      [ids],
    );
    return Object.fromEntries(rows.map(({ id, offer_url }) => [id, redirectTarget(offer_url)!]));
  }

  /** @param language in canonical form, as is `defaultLanguage`; translations are stored by canonical tags */
  async resolve(
    ids: string[],
    language: string,
    defaultLanguage: string,
  ): Promise<Record<string, ResolvedPerk>> {
    const tags = fallbackChain(language, defaultLanguage).map((tag) => canonicalLanguage(tag)!);
    const text = (field: string) =>
      `coalesce(${tags.map((_, index) => `translations -> $${index + 2}::text ->> '${field}'`).join(', ')}, ${field}) as ${field}`;
    const rows = await this.dataSource.query<PerkRow[]>(
      `select id, coupon, media, array(select jsonb_object_keys(translations)) as languages,
         ${PERK_TEXTS.map(text).join(', ')}
       from perks where id = any($1)`,
      [ids, ...tags],
    );
    return Object.fromEntries(
      rows.map(({ id, redemption_note: redemptionNote, ...perk }) => [
        id,
        { ...perk, redemptionNote, language },
      ]),
    );
  }
}
