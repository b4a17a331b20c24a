import {
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  type Brand,
  type LanguagePreference,
  type ProductView,
  type RewardLinkReply,
  type RewardLinkView,
} from '@perkway/domain';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { respond, type RpcResponder } from './rpc-responder.js';

interface FakeLink {
  card: { code: string; pin?: string };
  /** Not sent while the link is RESERVED. */
  id: string;
  view: Omit<RewardLinkView, 'card' | 'id'>;
  /** Unix seconds. */
  revealedAt?: number;
  brand: Brand | null;
  product: ProductView | null;
  /** The language of the last request. */
  preference?: LanguagePreference;
  /** Number of reveal requests. */
  revealRequests: number;
  /** Number of reveal requests that changed the state. */
  revealCount: number;
}

/**
 * The card of a link unless the test gives another one. Its PIN has letters that no UUID has, so a search of the log
 * for it finds no request id.
 */
export const CARD = { code: 'GIFT-7K2M-93QX-44TR', pin: 'PX71' };
const DAY_S = 86_400;

/** Returns a random link token of a real length: version 1, and a key id of two characters. */
export const aLinkToken = (): string =>
  Buffer.concat([Buffer.of(1, 2), randomBytes(36)]).toString('base64url');

/**
 * Replaces gift-cards on a real broker for the Allocation Page: shows and reveals links, and keeps the state of each
 * link as section 3 of the specification defines it.
 */
export class FakeGiftCards {
  private readonly links = new Map<string, FakeLink>();
  private responders: RpcResponder<object>[] = [];
  /** Delay before each response. */
  delayMs = 0;

  private constructor(private readonly natsUrl: string) {}

  static async start(natsUrl: string): Promise<FakeGiftCards> {
    const fake = new FakeGiftCards(natsUrl);
    await fake.start();
    return fake;
  }

  /** May be called again after `close`: links are kept. */
  async start(): Promise<void> {
    this.responders = await Promise.all([
      this.respond(GET_REWARD_LINK, () => {}),
      this.respond(REVEAL_REWARD_LINK, (link) => {
        link.revealRequests += 1;
        if (link.view.state === 'EXPIRED') return 'LINK_EXPIRED';
        if (link.view.state === 'RESERVED') {
          link.revealCount += 1;
          link.revealedAt = Math.floor(Date.now() / 1000);
        }
        link.view.state = 'REVEALED';
        return undefined;
      }),
    ]);
  }

  async close(): Promise<void> {
    await Promise.all(this.responders.splice(0).map((each) => each.close()));
  }

  /** Creates a link and returns its token. */
  addLink(
    given: Partial<RewardLinkView> & { revealedAt?: number } = {},
    brand: Brand | null = null,
    product: ProductView | null = null,
  ): string {
    const token = aLinkToken();
    const { card = CARD, id = randomUUID(), revealedAt, ...rest } = given;
    const view = {
      state: 'RESERVED' as const,
      denomination: 25,
      currency: 'EUR',
      country: 'FR',
      expires_at: Math.floor(Date.now() / 1000) + 9 * DAY_S,
      ...rest,
    };
    this.links.set(token, { card, id, view, revealedAt, brand, product, revealRequests: 0, revealCount: 0 });
    return token;
  }

  link(token: string): FakeLink {
    return this.links.get(token)!;
  }

  private respond(contract: typeof GET_REWARD_LINK, act: (link: FakeLink) => 'LINK_EXPIRED' | void) {
    return respond(this.natsUrl, contract, async ({ token, ...preference }): Promise<RewardLinkReply> => {
      if (this.delayMs > 0) await sleep(this.delayMs);
      const link = this.links.get(token);
      if (!link) return { error: 'LINK_NOT_FOUND' };
      link.preference = preference;
      const { view, card, id, revealedAt, brand, product } = link;
      if (view.state === 'RESERVED' && view.expires_at <= Date.now() / 1000) view.state = 'EXPIRED';
      const error = act(link);
      if (error) return { error, brand };
      const language = product && 'en';
      if (view.state === 'REVEALED')
        return { link: { ...view, id, card }, brand, product, language, revealedAt };
      const shown = product && { name: product.name, logo: product.logo, color: product.color };
      const expired = view.state === 'EXPIRED' && { id };
      return { link: { ...view, ...expired }, brand, product: shown, language };
    });
  }
}
