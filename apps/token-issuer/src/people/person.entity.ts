import { Column, Entity, PrimaryColumn } from 'typeorm';

export type PersonRole = 'USER' | 'ADMIN';

/** A person who may sign in for an account. */
@Entity('people')
export class PersonEntity {
  @PrimaryColumn('text')
  account_id: string;
  /** In lower case. */
  @PrimaryColumn('text')
  email: string;
  @Column('text')
  role: PersonRole;
  @Column('timestamptz', { default: () => 'now()' })
  created_at: Date;
  @Column('timestamptz', { default: () => 'now()' })
  updated_at: Date;
}
