import type { Role } from '@perkway/domain';
import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** Stays when the key is revoked, to tell that there was such a key. */
@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn('uuid')
  id: string;
  @Column('text')
  account_id: string;
  @Column('text')
  role: Role;
  @Column('text', { nullable: true })
  name: string | null;
  /** Keyed, over the folded key; unique among the valid ones. */
  @Column('text')
  hash: string;
  /** The end of the key as it was given; null for keys that are older than this column. */
  @Column('text', { nullable: true })
  last4: string | null;
  @CreateDateColumn({ type: 'timestamptz' })
  created_at: Date;
  @Column('timestamptz', { nullable: true })
  revoked_at: Date | null;
  /** To the minute. */
  @Column('timestamptz', { nullable: true })
  last_used_at: Date | null;
  /** Whether the console made it for a session or a job of its own: none of the keys that an account has. */
  @Column('boolean', { default: false })
  is_console: boolean;
  /** Of a key of the console: until when it is valid. */
  @Column('timestamptz', { nullable: true })
  expires_at: Date | null;
  /** Of a key of the console: with which key somebody signed in. */
  @Column('uuid', { nullable: true })
  parent_id: string | null;
  /** Of a key of the console: which person of the account signed in. */
  @Column('text', { nullable: true })
  person_email: string | null;
}
