import { Column, Entity, PrimaryColumn } from 'typeorm';

export type CategoryTranslations = Record<string, { name?: string }>;

@Entity('categories')
export class CategoryEntity {
  @PrimaryColumn('integer')
  id: number;
  @Column('text')
  slug: string;
  @Column('text')
  name: string;
  @Column('jsonb')
  translations: CategoryTranslations;
  @Column('timestamptz')
  created_at: Date;
  @Column('timestamptz')
  updated_at: Date;
}
