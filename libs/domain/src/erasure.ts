import { createHmac } from 'node:crypto';
import { isRecord } from './is-record.js';
import { isDerivedJourneyId } from './journey-id.js';

/** How a person is identified: by the id of a journey, or by the client's own id of a customer. */
export const ERASURE_KINDS = ['journey_id', 'customer_id'] as const;
export type ErasureKind = (typeof ERASURE_KINDS)[number];

/** The person to erase. */
export interface ErasureSubject {
  account: string;
  kind: ErasureKind;
  value: string;
}

/** The replacements of erased values (docs/adr/0031-erasure.md). */
export interface StandIns {
  /** Replaces the journey id in all events of the journey, so that they still count as one journey. */
  standIn: string;
  /** Key of the account, in hex. External ids are replaced by hashes with this key, so that each still counts once. */
  secret: string;
}

export interface Erasure extends ErasureSubject, StandIns {
  id: string;
  /** Everything is erased in two rounds; the second erases events that were in flight during the first. */
  round: number;
}

const STAND_IN_PREFIX = 'erased-';
const STAND_IN_LENGTH = 22;
/** @param text base64url of at least 128 bits */
export const asStandIn = (text: string): string => STAND_IN_PREFIX + text.slice(0, STAND_IN_LENGTH);

const STAND_IN = new RegExp(`^${STAND_IN_PREFIX}[\\w-]{${STAND_IN_LENGTH}}$`);

/** Returns whether a journey or an external id is a stand-in for an erased one. */
export const isStandIn = (text: string): boolean => STAND_IN.test(text);

/**
 * Returns the stand-in of an external id, or the id itself if it already is a stand-in. So an order keeps its stand-in
 * when first its customer and then its journey is erased.
 */
export const externalIdStandIn = (secret: string, externalId: string): string =>
  isStandIn(externalId)
    ? externalId
    : asStandIn(createHmac('sha256', secret).update(`external-id\0${externalId}`).digest('base64url'));

/** Attributes in which clients put customer ids, in lower case and with `-` written as `_`. */
export const CUSTOMER_ATTRIBUTES = ['customer_id', 'customerid', 'customer'] as const;
const isCustomerAttribute = (name: string): boolean =>
  (CUSTOMER_ATTRIBUTES as readonly string[]).includes(name.replaceAll('-', '_').toLowerCase());

type EventLike = Readonly<Record<string, unknown>>;

/**
 * Returns whether a tracking event of any shape is about the person. The journey derived from a campaign belongs to no
 * person, because all events without a journey share it.
 */
export function isOfSubject(event: EventLike, { account, kind, value }: ErasureSubject): boolean {
  if (event.account !== account) return false;
  if (kind === 'journey_id')
    return (
      event.journey === value &&
      !(typeof event.campaign === 'string' && isDerivedJourneyId(value, event.campaign))
    );
  if (event.reference === value) return true;
  return (
    isRecord(event.cmeta) &&
    Object.entries(event.cmeta).some(([name, each]) => each === value && isCustomerAttribute(name))
  );
}

/**
 * Returns the event without the person: counts stay the same, but everything that the client said about the person is
 * removed.
 */
export function withoutPerson<Event extends object>(
  event: Event,
  { kind, standIn, secret }: Pick<Erasure, 'kind'> & StandIns,
): Event {
  const {
    cmeta: _cmeta,
    utm: _utm,
    reference: _reference,
    externalId,
    ...rest
  } = event as Record<string, unknown>;
  if (kind === 'journey_id') rest.journey = standIn;
  if (typeof externalId === 'string') rest.externalId = externalIdStandIn(secret, externalId);
  return rest as Event;
}

/** Returns the JSON of an event without the person; undefined if the event is not about the person. */
export function eraseFromText(text: string, erasure: Erasure): string | undefined {
  const event: unknown = JSON.parse(text);
  return isRecord(event) && isOfSubject(event, erasure)
    ? JSON.stringify(withoutPerson(event, erasure))
    : undefined;
}
