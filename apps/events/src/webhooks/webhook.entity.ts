import type { EventType } from '@perkway/domain';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('webhooks')
export class WebhookEntity {
  @PrimaryColumn('bigint', { generated: 'identity' })
  key: string;
  @Column('text')
  account_id: string;
  @Column('text')
  id: string;
  @Column('text')
  url: string;
  @Column('text', { array: true, nullable: true })
  types: EventType[] | null;
  @Column('boolean')
  ordered: boolean;
  @Column('boolean')
  enabled: boolean;
  @Column('text', { nullable: true })
  description: string | null;
  @Column('bytea')
  secret: Buffer;
  @Column('bytea', { nullable: true })
  previous_secret: Buffer | null;
  @Column('timestamptz', { nullable: true })
  previous_secret_until: Date | null;
  @Column('bigint')
  position: string;
  @Column('timestamptz')
  enabled_at: Date;
  @Column('timestamptz', { nullable: true })
  failing_since: Date | null;
  @Column('timestamptz', { nullable: true })
  disabled_at: Date | null;
  @Column('text', { nullable: true })
  disabled_reason: string | null;
  @Column('timestamptz')
  created_at: Date;
  @Column('timestamptz')
  updated_at: Date;
}
