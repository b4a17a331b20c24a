import { Injectable } from '@nestjs/common';
import { AccountDirectory } from '@perkway/directory';
import { invalidField } from '@perkway/domain';
import {
  idFilterOf,
  listResources,
  KeysetPaginator,
  upsertResource,
  requireDeletable,
  requireFound,
  timesOf,
  type ListQuery,
  type Page,
  type RowTimes,
  type Settings,
} from '@perkway/platform';
import { DataSource, type EntityManager } from 'typeorm';
import { CatalogWriter } from '../catalog/catalog-writer.js';
import { CollectionStore } from '../catalog/collection-store.js';
import type { CollectionResource, GroupResource, PutCollectionDto } from './collection.dto.js';
import { CollectionEntity } from './collection.entity.js';
import { toCollectionResource } from './to-collection-resource.js';

type CollectionRow = Pick<CollectionEntity, 'id' | 'owner'> & RowTimes & { groups: GroupResource[] };
const SELECT = `
  select c.id, c.owner, c.created_at, c.updated_at, coalesce((
    select json_agg(
      json_build_object('id', g.id, 'name', g.name, 'rank', g.rank, 'translations', g.translations, 'perks', coalesce((
        select json_agg(json_build_object('id', p.perk_id, 'rank', p.rank) order by p.rank, p.position)
        from group_perks p where p.collection_id = g.collection_id and p.group_id = g.id
      ), '[]')) order by g.rank, g.position)
    from perk_groups g where g.collection_id = c.id
  ), '[]') as groups
  from collections c`;

const toResource = ({ id, owner, groups, ...times }: CollectionRow): CollectionResource => ({
  id,
  owner,
  groups: groups.map(({ translations = {}, ...group }) => ({
    ...group,
    ...(Object.keys(translations).length > 0 ? { translations } : {}),
  })),
  ...timesOf(times),
});

const INSERT_GROUPS = `
  insert into perk_groups (collection_id, id, name, rank, position, translations)
  select $1, id, name, rank, position, coalesce(translations, '{}')
  from jsonb_to_recordset($2) as g(id uuid, name text, rank integer, position integer, translations jsonb)`;
const INSERT_PERKS = `
  insert into group_perks (collection_id, group_id, perk_id, rank, position)
  select $1, group_id, perk_id, rank, position
  from jsonb_to_recordset($2) as p(group_id uuid, perk_id text, rank integer, position integer)`;

@Injectable()
export class CollectionManagementService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly writer: CatalogWriter,
    private readonly store: CollectionStore,
    private readonly accounts: AccountDirectory,
    private readonly pages: KeysetPaginator,
  ) {}

  /** Returns a page sorted by id. @throws ApiError VALIDATION_FAILED */
  list(query: ListQuery): Promise<Page<CollectionResource>> {
    const perk = idFilterOf(query, 'perk_id');
    return listResources<CollectionRow, CollectionResource>(this.dataSource, this.pages, query, {
      name: 'perk-collections',
      select: SELECT,
      id: 'c.id',
      search: ['c.id'],
      owner: 'c.owner',
      filter: (where) =>
        perk !== undefined &&
        where.and`c.id in (select collection_id from group_perks where perk_id = ${perk})`,
      toItem: toResource,
    });
  }

  /** @throws ApiError COLLECTION_NOT_FOUND */
  async get(id: string): Promise<CollectionResource> {
    return requireFound(await this.find(this.dataSource, id), 'COLLECTION_NOT_FOUND');
  }

  /**
   * Creates or replaces a whole collection.
   * @throws ApiError PRECONDITION_FAILED, DEPENDENCY_UNAVAILABLE; VALIDATION_FAILED naming an unknown owner or unknown
   * perks
   */
  async put(id: string, body: PutCollectionDto, ifMatch?: string): Promise<CollectionResource> {
    const wanted = toCollectionResource(id, body);
    await this.accounts.require('owner', wanted.owner);
    let formerOwner: string | undefined = wanted.owner;
    const stored = await this.writer.write(async (manager) => {
      await this.requirePerks(manager, wanted);
      return upsertResource<CollectionResource>(
        ifMatch,
        wanted,
        () => this.find(manager, id),
        (times, current) => {
          formerOwner = current?.owner;
          return this.replace(manager, wanted, times);
        },
      );
    });
    if (formerOwner !== wanted.owner) {
      this.store.forgetIdsOwnedBy(wanted.owner);
      if (formerOwner !== undefined) this.store.forgetIdsOwnedBy(formerOwner);
    }
    return stored;
  }

  /** @throws ApiError COLLECTION_NOT_FOUND, PRECONDITION_FAILED */
  async delete(id: string, ifMatch?: string): Promise<void> {
    const { owner } = await this.writer.write(async (manager) => {
      const current = requireDeletable(ifMatch, await this.find(manager, id), 'COLLECTION_NOT_FOUND');
      await manager.delete(CollectionEntity, id);
      return current;
    });
    this.store.forgetIdsOwnedBy(owner);
  }

  private async replace(
    manager: EntityManager,
    { id, owner, groups }: Settings<CollectionResource>,
    times: RowTimes,
  ): Promise<void> {
    const collections = manager.getRepository(CollectionEntity);
    await collections.upsert({ id, owner, ...times, revision: () => 'gen_random_uuid()' }, ['id']);
    await manager.query('delete from perk_groups where collection_id = $1', [id]);
    const rows = groups.map(({ perks: _, ...group }, position) => ({ ...group, position }));
    await manager.query(INSERT_GROUPS, [id, JSON.stringify(rows)]);
    const perks = groups.flatMap((group) =>
      group.perks.map((perk, position) => ({
        group_id: group.id,
        perk_id: perk.id,
        rank: perk.rank,
        position,
      })),
    );
    await manager.query(INSERT_PERKS, [id, JSON.stringify(perks)]);
  }

  private async find(
    manager: Pick<EntityManager, 'query'>,
    id: string,
  ): Promise<CollectionResource | undefined> {
    const [row] = await manager.query<CollectionRow[]>(`${SELECT} where c.id = $1`, [id]);
    return row && toResource(row);
  }

  private async requirePerks(
    manager: EntityManager,
    { groups }: Settings<CollectionResource>,
  ): Promise<void> {
    const ids = [...new Set(groups.flatMap(({ perks }) => perks.map((perk) => perk.id)))];
    const rows = await manager.query<{ id: string }[]>(
      'select unnest($1::text[]) as id except select id from perks order by id limit 20',
      [ids],
    );
    if (rows.length > 0)
      throw invalidField(
        'groups',
        `must name existing perks; unknown: ${rows.map((row) => row.id).join(', ')}`,
      );
  }
}
