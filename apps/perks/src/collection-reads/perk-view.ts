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
  attributes?: CustomAttributes,
  at: number = Date.now(),
): string {
  // Ids have no character that JSON escapes.
  const event = `{"v":${TRACKING_EVENT_VERSION},"id":"${id}","account":"${collection.owner}","at":${at},"type":"perk_view","collection":"${collection.id}","perks":${shownPerks}`;
  if (!attributes) return `${event}}`;
  const { utm, cmeta } = attributes;
  const tags = {
    ...(Object.keys(utm).length > 0 ? { utm } : {}),
    ...(Object.keys(cmeta).length > 0 ? { cmeta } : {}),
  };
  const text = JSON.stringify(tags);
  return text === '{}' ? `${event}}` : `${event},${text.slice(1)}`;
}
