import { Column, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { Campaign } from './campaign.js';

@Entity('campaigns')
export class CampaignEntity implements Campaign {
  @PrimaryColumn('text')
  id: string;
  @Column('text')
  owner: string;
  @Column('text')
  name: string;
  @Column('text', { array: true })
  incentives: string[];
  @UpdateDateColumn({ type: 'timestamptz' })
  updated_at: Date;
}
