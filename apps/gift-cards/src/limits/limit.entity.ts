import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { LimitedBy, Period } from './limit.dto.js';

@Entity('limits')
export class LimitEntity {
  @PrimaryColumn('text')
  id: string;
  @Column('text')
  owner: string;
  @Column('bigint', { nullable: true })
  links: string | null;
  @Column('numeric', { nullable: true })
  amount: string | null;
  @Column('text', { nullable: true })
  currency: string | null;
  @Column('text')
  period: Period;
  @Column('text')
  timezone: string;
  @Column('text')
  per: LimitedBy;
  @Column('uuid', { nullable: true })
  only_pool: string | null;
  @Column('text', { nullable: true })
  only_campaign: string | null;
  @Column('timestamptz')
  created_at: Date;
  @Column('timestamptz')
  updated_at: Date;
}
