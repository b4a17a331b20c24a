import type { EntityManager } from 'typeorm';

/** Gives the collections a new revision. Call it in the transaction that changes what they show. */
export async function touchCollections(
  manager: EntityManager,
  where: string,
  parameters: unknown[],
): Promise<void> {
  await manager.query(`update collections set revision = gen_random_uuid() where ${where}`, parameters);
}
