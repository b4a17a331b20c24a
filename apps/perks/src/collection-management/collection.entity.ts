import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('collections')
export class CollectionEntity {
  @PrimaryColumn('text')
  id: string;
  @Column('text')
  owner: string;
  /** Changes whenever anything that a read of the collection shows changes. */
  @Column('uuid')
  revision: string;
  @Column('timestamptz')
  created_at: Date;
  @Column('timestamptz')
  updated_at: Date;
}
