import { Column, Entity, PrimaryColumn } from 'typeorm';
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
  @Column('timestamptz')
  created_at: Date;
  @Column('timestamptz')
  updated_at: Date;
}
