import type { Role, Scope } from '@perkway/domain';
import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** Kept as a record after the key is revoked; a console key is deleted a day after it expires. */
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
  /** The last characters of the key as given; null for console keys and for keys older than this column. */
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
  /**
   * The key under which limits count: the first of a chain of rotations. Null for that key itself, and for the console
   * keys of a person.
   */
  @Column('uuid', { nullable: true })
  counted_as: string | null;
  /** The API key that signed in, for a console key. */
  @Column('uuid', { nullable: true })
  parent_id: string | null;
  /**
   * The person who signed in, for a console key; otherwise the person who created or last rotated the key under
   * Integration in the console, if any.
   */
  @Column('text', { nullable: true })
  person_email: string | null;
}
