import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('pools')
export class PoolEntity {
  @PrimaryColumn('uuid')
  id: string;
  @Column('text')
  owner: string;
}
