import { TRACKING_EVENT_VERSION, type CustomAttributes } from '@perkway/domain';
import type { Collection } from '../catalog/collection.js';

/**
 * The JSON text of a PerkViewEvent. `shownPerks` is JSON text already, so that a read of two thousand perks does not
 * serialise their ids again.
 */
export function perkView(
  id: string,
  collection: Pick<Collection, 'id' | 'owner'>,
  shownPerks: string,
  { utm, cmeta }: CustomAttributes,
  at: number = Date.now(),
): string {
  // Ids have no character that JSON escapes.
  let event = `{"v":${TRACKING_EVENT_VERSION},"id":"${id}","account":"${collection.owner}","at":${at},"type":"perk_view","collection":"${collection.id}","perks":${shownPerks}`;
  if (Object.keys(utm).length > 0) event += `,"utm":${JSON.stringify(utm)}`;
  if (Object.keys(cmeta).length > 0) event += `,"cmeta":${JSON.stringify(cmeta)}`;
  return `${event}}`;
}
