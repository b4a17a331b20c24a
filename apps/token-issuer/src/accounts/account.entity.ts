import type { Approvals, Brand } from '@perkway/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('text')
  id: string;
  @Column('text')
  name: string;
  @Column('text', { array: true })
  allowed_origins: string[];
  @Column('jsonb', { nullable: true })
  brand: Brand | null;
  @Column('jsonb', { nullable: true })
  approvals: Approvals | null;
  @Column('timestamptz', { default: () => 'now()' })
  created_at: Date;
  @Column('timestamptz', { default: () => 'now()' })
  updated_at: Date;
}
