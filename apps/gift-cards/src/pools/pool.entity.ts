import type { Product } from './product.dto.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('pools')
export class PoolEntity {
  @PrimaryColumn('uuid')
  id: string;
  @Column('text')
  owner: string;
  @Column('jsonb', { nullable: true })
  product: Product | null;
  @Column('timestamptz', { default: () => 'now()' })
  created_at: Date;
  @Column('timestamptz', { default: () => 'now()' })
  updated_at: Date;
}
