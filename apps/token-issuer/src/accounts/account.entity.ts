import type { Brand } from '@perkway/domain';
import { Column, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';

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
  @UpdateDateColumn({ type: 'timestamptz' })
  updated_at: Date;
}
