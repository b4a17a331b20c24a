import type { CustomAttributes, TrackingEvent, Traffic } from '@perkway/domain';
import { newEventId } from './event-id.js';

/** The JSON of a tracking event without the members that `completeEvent` adds. */
export type PreparedEvent = string & { readonly isPreparedEvent: true };

/**
 * Serializes the members that all uses of a link share. Completing that is four times as fast as serializing an event.
 */
export const prepareEvent = (
  common: Partial<TrackingEvent> & Pick<TrackingEvent, 'v' | 'type'>,
): PreparedEvent => JSON.stringify(common).slice(0, -1) as PreparedEvent;

/** Members of one use. Absent and undefined members are left out. */
export interface EventDetails extends Partial<CustomAttributes> {
  journey?: string;
}

/** Returns the JSON of one event: the prepared members, an id, the time, who caused it, and the details. */
export function completeEvent(prepared: PreparedEvent, traffic: Traffic, details: EventDetails): string {
  const more = JSON.stringify(details);
  return `${prepared},"id":"${newEventId()}","at":${Date.now()},"traffic":${trafficJson(traffic)}${more === '{}' ? '}' : `,${more.slice(1)}`}`;
}

const TRAFFIC_JSON = new WeakMap<Traffic, string>();

/** `classifyTraffic` returns the same few objects again and again. */
function trafficJson(traffic: Traffic): string {
  let json = TRAFFIC_JSON.get(traffic);
  if (json === undefined) TRAFFIC_JSON.set(traffic, (json = JSON.stringify(traffic)));
  return json;
}
