import { Injectable } from '@nestjs/common';
import { AccountDirectory } from '@perkway/directory';
import { invalidField } from '@perkway/domain';
import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from 'typeorm';
import { CatalogWriter } from '../catalog/catalog-writer.js';
import { CollectionStore } from '../catalog/collection-store.js';
import type { CollectionResource, PutCollectionDto } from './collection.dto.js';
import { CollectionEntity } from './collection.entity.js';
import { toCollectionResource } from './to-collection-resource.js';

const FIND = `
  select c.owner, coalesce((
    select json_agg(
      json_build_object('id', g.id, 'name', g.name, 'rank', g.rank, 'translations', g.translations, 'perks', coalesce((
        select json_agg(json_build_object('id', p.perk_id, 'rank', p.rank) order by p.rank, p.position)
        from group_perks p where p.collection_id = g.collection_id and p.group_id = g.id
      ), '[]')) order by g.rank, g.position)
    from perk_groups g where g.collection_id = c.id
  ), '[]') as groups
  from collections c where c.id = $1`;

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
    private readonly writer: CatalogWriter,
    private readonly store: CollectionStore,
    private readonly accounts: AccountDirectory,
  ) {}

  /**
   * Makes or replaces a collection, as a whole.
   * @throws DomainError VALIDATION_FAILED naming an unknown owner or unknown perks; DEPENDENCY_UNAVAILABLE
   */
  async put(id: string, body: PutCollectionDto): Promise<CollectionResource> {
    const wanted = toCollectionResource(id, body);
    await this.accounts.require('owner', wanted.owner);
    const formerOwner = await this.writer.write(async (manager) => {
      await this.requirePerks(manager, wanted);
      const current = await this.find(manager, id);
      if (!current || !isDeepStrictEqual(current, wanted)) await this.replace(manager, wanted);
      return current?.owner;
    });
    if (formerOwner !== wanted.owner) {
      this.store.forgetIdsOwnedBy(wanted.owner);
      if (formerOwner !== undefined) this.store.forgetIdsOwnedBy(formerOwner);
    }
    return wanted;
  }

  private async replace(manager: EntityManager, { id, owner, groups }: CollectionResource): Promise<void> {
    const collections = manager.getRepository(CollectionEntity);
    await collections.upsert({ id, owner, revision: () => 'gen_random_uuid()' }, ['id']);
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

  private async find(manager: EntityManager, id: string): Promise<CollectionResource | undefined> {
    const [row] = await manager.query<Omit<CollectionResource, 'id'>[]>(FIND, [id]);
    if (!row) return undefined;
    return {
      id,
      owner: row.owner,
      groups: row.groups.map(({ translations = {}, ...group }) => ({
        ...group,
        ...(Object.keys(translations).length > 0 ? { translations } : {}),
      })),
    };
  }

  private async requirePerks(manager: EntityManager, { groups }: CollectionResource): Promise<void> {
    const ids = [...new Set(groups.flatMap(({ perks }) => perks.map((perk) => perk.id)))];
    const rows = await manager.query<{ id: string }[]>(
      'select unnest($1::text[]) as id except select id from perks order by id limit 20',
      [ids],
    );
    if (rows.length > 0)
      throw invalidField(
        'groups',
        `must name existing perks: ${rows.map((row) => row.id).join(', ')} is unknown`,
      );
  }
}
