import { createHmac } from 'node:crypto';
import { isRecord } from './is-record.js';
import { isDerivedJourneyId } from './journey-id.js';

/** What a person can be known by: the id of a journey, or the name that the client has for a customer. */
export const ERASURE_KINDS = ['journey_id', 'customer_id'] as const;
export type ErasureKind = (typeof ERASURE_KINDS)[number];

/** Whose traces are to go. */
export interface ErasureSubject {
  account: string;
  kind: ErasureKind;
  value: string;
}

/** What takes the place of what is erased (docs/adr/0031-erasure.md). */
export interface StandIns {
  /** Of the journey: the same in all of its events, so that it stays one. */
  standIn: string;
  /** Of the account, in hex: external ids become hashes under it, so that each still counts once. */
  secret: string;
}

export interface Erasure extends ErasureSubject, StandIns {
  id: string;
  /** Everything is gone through twice, for what was on its way the first time. */
  round: number;
}

const STAND_IN_PREFIX = 'erased-';
const STAND_IN_LENGTH = 22;
/** @param text base64url of at least 128 bits */
export const asStandIn = (text: string): string => STAND_IN_PREFIX + text.slice(0, STAND_IN_LENGTH);

const STAND_IN = new RegExp(`^${STAND_IN_PREFIX}[\\w-]{${STAND_IN_LENGTH}}$`);

/** Of an id that was erased before, as of a customer and then of a journey, it is what it has become. */
export const externalIdStandIn = (secret: string, externalId: string): string =>
  STAND_IN.test(externalId)
    ? externalId
    : asStandIn(createHmac('sha256', secret).update(`external-id\0${externalId}`).digest('base64url'));

/** Attributes in which clients put what they call a customer, `-` written as `_`, in lower case. */
export const CUSTOMER_ATTRIBUTES = ['customer_id', 'customerid', 'customer'] as const;
const isCustomerAttribute = (name: string): boolean =>
  (CUSTOMER_ATTRIBUTES as readonly string[]).includes(name.replaceAll('-', '_').toLowerCase());

type EventLike = Readonly<Record<string, unknown>>;

/** Whether a tracking event, of whatever shape, tells of the person. The journey of all who came without one is nobody's. */
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

/** The event without the person: what was counted stays, what the client said of whom it was is gone. */
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

/** The JSON text of an event without the person; undefined where it is not about that one. */
export function eraseFromText(text: string, erasure: Erasure): string | undefined {
  const event: unknown = JSON.parse(text);
  return isRecord(event) && isOfSubject(event, erasure)
    ? JSON.stringify(withoutPerson(event, erasure))
    : undefined;
}
