import { type CustomAttributes, noAttributes, UTM_NAMES } from '@perkway/domain';
import type { Keyring } from './keyring.js';
import { signPayload, verifyPayload } from './payload-token.js';

/** A click on a reward URL, or one within the customer journey. Tokens of one purpose are invalid for the other. */
export type OutreachPurpose = 'outreach-click' | 'journey-click';

/** The content of a click token (specification section 2, "Boost outreach objects"). */
export interface OutreachToken {
  account: string;
  campaign: string;
  perk: string;
  journey?: string;
  attributes?: CustomAttributes;
  disableTracking?: boolean;
}

/** The fields in order, without empty ones at the end, to keep the URL short. */
type Packed = [
  account: string,
  campaign: string,
  perk: string,
  journey?: string,
  disableTracking?: 0 | 1,
  utm?: [index: number, value: string][],
  cmeta?: [name: string, value: string][],
];

export function signOutreachToken(keyring: Keyring, purpose: OutreachPurpose, token: OutreachToken): string {
  const utm = UTM_NAMES.flatMap((name, index): [number, string][] => {
    const value = token.attributes?.utm[name];
    return value === undefined ? [] : [[index, value]];
  });
  const cmeta = Object.entries(token.attributes?.cmeta ?? {});
  const packed = [
    token.account,
    token.campaign,
    token.perk,
    token.journey ?? '',
    token.disableTracking ? 1 : 0,
    utm,
    cmeta,
  ] satisfies Packed;
  const empty = (value: unknown): boolean =>
    value === '' || value === 0 || (Array.isArray(value) && !value.length);
  const end = packed.findLastIndex((value) => !empty(value)) + 1;
  return signPayload(keyring, purpose, JSON.stringify(packed.slice(0, end)));
}

/** Returns the content of a token, or null if this keyring did not sign it for the purpose. Never throws. */
export function verifyOutreachToken(
  keyring: Keyring,
  purpose: OutreachPurpose,
  token: string,
): OutreachToken | null {
  const payload = verifyPayload(keyring, purpose, token);
  if (!payload) return null;
  // The signature guarantees the shape.
  const [account, campaign, perk, journey, disableTracking, utm, cmeta] = JSON.parse(
    payload.toString(),
  ) as Packed;
  const attributes = noAttributes();
  for (const [index, value] of utm ?? []) attributes.utm[UTM_NAMES[index]!] = value;
  for (const [name, value] of cmeta ?? []) attributes.cmeta[name] = value;
  return {
    account,
    campaign,
    perk,
    ...(journey ? { journey } : {}),
    attributes,
    disableTracking: disableTracking === 1,
  };
}
