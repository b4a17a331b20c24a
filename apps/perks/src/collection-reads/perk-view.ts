import { TRACKING_EVENT_VERSION, type CustomAttributes, type Traffic } from '@perkway/domain';
import type { Collection } from '../catalog/collection.js';

/**
 * Returns the JSON of a PerkViewEvent. `shownPerks` is already JSON, so that a read of 2,000 perks does not serialize
 * their ids again.
 */
export function perkView(
  id: string,
  collection: Pick<Collection, 'id' | 'owner'>,
  shownPerks: string,
  { attributes, traffic }: { attributes?: CustomAttributes; traffic?: Traffic } = {},
  at: number = Date.now(),
): string {
  // Ids contain no character that JSON escapes.
  const event = `{"v":${TRACKING_EVENT_VERSION},"id":"${id}","account":"${collection.owner}","at":${at},"type":"perk_view","collection":"${collection.id}","perks":${shownPerks}${traffic ? `,"traffic":${JSON.stringify(traffic)}` : ''}`;
  if (!attributes) return `${event}}`;
  const { utm, cmeta } = attributes;
  const tags = {
    ...(Object.keys(utm).length > 0 ? { utm } : {}),
    ...(Object.keys(cmeta).length > 0 ? { cmeta } : {}),
  };
  const text = JSON.stringify(tags);
  return text === '{}' ? `${event}}` : `${event},${text.slice(1)}`;
}
