import { invalidFields, type FieldProblem } from '@perkway/domain';
import { cleanTranslations, type Settings } from '@perkway/platform';
import { v5 as uuidV5 } from 'uuid';
import type { CollectionResource, GroupResource, PutCollectionDto } from './collection.dto.js';

/** UUIDv5 namespace of derived group ids. It must never change. */
const GROUP_NAMESPACE = '0b6c5b1e-6f0e-4a53-9d5e-3d4f1c8e7a21';

/**
 * Derives the id of a group that was given without one from the collection id and the group's name, so that it stays
 * the same when groups are moved, added or removed. `occurrence` tells groups of the same name apart.
 */
export const derivedGroupId = (collectionId: string, name: string, occurrence: number): string =>
  uuidV5(JSON.stringify([collectionId, name, occurrence]), GROUP_NAMESPACE);

const byRank = (a: { rank: number }, b: { rank: number }): number => a.rank - b.rank;
const MAX_PROBLEMS = 20;
/** One view event names all perks of a collection and must fit into one NATS message. */
export const MAX_PERKS_IN_COLLECTION = 5_000;

/**
 * Converts the body of a PUT to the stored form: in display order, with an id for every group.
 * @throws ApiError VALIDATION_FAILED for a duplicate group id, a perk that appears twice in a group, or too many perks
 */
export function toCollectionResource(
  id: string,
  { owner, groups: given }: PutCollectionDto,
): Settings<CollectionResource> {
  const problems: FieldProblem[] = [];
  const occurrences = new Map<string, number>();
  const ids = new Set<string>();
  const perkIds = new Set<string>();
  // The sort is stable: groups of equal rank stay in the given order.
  const inOrder = given.map((group, index) => ({ group, index, rank: group.rank })).sort(byRank);
  const groups = inOrder.map(({ group, index }): GroupResource => {
    const { name, rank } = group;
    let groupId = group.id?.toLowerCase();
    if (groupId === undefined) {
      const occurrence = occurrences.get(name) ?? 0;
      occurrences.set(name, occurrence + 1);
      groupId = derivedGroupId(id, name, occurrence);
    }
    if (ids.has(groupId))
      problems.push({ field: `groups.${index}.id`, message: 'is already used by another group' });
    ids.add(groupId);
    const inGroup = new Set<string>();
    for (const [at, perk] of group.perks.entries()) {
      if (inGroup.has(perk.id))
        problems.push({
          field: `groups.${index}.perks.${at}.id`,
          message: `names ${perk.id} twice in one group`,
        });
      inGroup.add(perk.id);
      perkIds.add(perk.id);
    }
    const translations = cleanTranslations(group.translations, ['name']);
    return {
      id: groupId,
      name,
      rank,
      ...(Object.keys(translations).length > 0 ? { translations } : {}),
      perks: group.perks.map((perk) => ({ id: perk.id, rank: perk.rank })).sort(byRank),
    };
  });
  if (perkIds.size > MAX_PERKS_IN_COLLECTION)
    problems.push({
      field: 'groups',
      message: `must have at most ${MAX_PERKS_IN_COLLECTION} different perks`,
    });
  if (problems.length > 0) throw invalidFields(problems.slice(0, MAX_PROBLEMS));
  return { id, owner, groups };
}
