import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { PerkLocation, PerkText } from '../catalog/collection.js';

export type PerkTranslations = Record<string, Partial<Record<PerkText, string>>>;

@Entity('perks')
export class PerkEntity {
  @PrimaryColumn('text')
  id: string;
  @Column('text')
  title: string;
  @Column('text')
  description: string;
  @Column('text')
  callout: string;
  @Column('text')
  redemption_note: string;
  @Column('text')
  details: string;
  @Column('text')
  offer_url: string;
  @Column('text')
  offer_slug: string;
  @Column('text', { nullable: true })
  coupon: string | null;
  @Column('boolean')
  is_coupon_perk: boolean;
  @Column('integer', { nullable: true })
  codes_per_account: number | null;
  @Column('text')
  metadata: string;
  @Column('jsonb')
  partner: { id: string; name: string };
  @Column('jsonb')
  media: { banner: string | null; logo: string | null };
  @Column('jsonb')
  locations: PerkLocation[];
  @Column('jsonb')
  translations: PerkTranslations;
  @Column('timestamptz')
  created_at: Date;
  @Column('timestamptz')
  updated_at: Date;
}
