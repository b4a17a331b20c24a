import type { Role, Scope } from '@perkway/domain';
import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** The row stays after the key is revoked, as a record. */
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
  /** Keyed hash of the lower-case key; unique among valid keys. */
  @Column('text')
  hash: string;
  /** The last characters of the key as given; null for keys older than this column. */
  @Column('text', { nullable: true })
  last4: string | null;
  @CreateDateColumn({ type: 'timestamptz' })
  created_at: Date;
  @Column('timestamptz', { nullable: true })
  revoked_at: Date | null;
  /** The last use, to the minute. */
  @Column('timestamptz', { nullable: true })
  last_used_at: Date | null;
  /** Whether the key belongs to a session or job of the console, and is hidden from the account's keys. */
  @Column('boolean', { default: false })
  is_console: boolean;
  /** Console keys always expire. */
  @Column('timestamptz', { nullable: true })
  expires_at: Date | null;
  /** Null for a key with all rights of its role. */
  @Column('text', { array: true, nullable: true })
  scopes: Scope[] | null;
  /** The key that replaces this one. */
  @Column('uuid', { nullable: true })
  rotated_to: string | null;
  /** The first key of a chain of rotations. Set for its later keys, and for the console keys that those opened. */
  @Column('uuid', { nullable: true })
  counted_as: string | null;
  /** The API key that signed in, for a console key. */
  @Column('uuid', { nullable: true })
  parent_id: string | null;
  /** The person who signed in, for a console key; the person who made it in the console, for any other key. */
  @Column('text', { nullable: true })
  person_email: string | null;
}
