import {
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  type Brand,
  type RewardLinkReply,
  type RewardLinkView,
} from '@perkway/domain';
import { answer } from '@perkway/testing';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

interface Link {
  card: { code: string; pin?: string };
  view: Omit<RewardLinkView, 'card'>;
  brand: Brand | null;
  /** Reveal requests that arrived. */
  asked: number;
  /** Those that changed the state. */
  revealed: number;
}

export const CARD = { code: 'GIFT-7K2M-93QX-44TR', pin: '4071' };
const DAY_S = 86_400;

/** A token in the form of the real ones. */
export const aToken = (): string => randomBytes(32).toString('base64url');

/**
 * The owner of the links as this app sees it: answers the two subjects over a real broker and keeps the state of each
 * link as the specification has it (section 3).
 */
export class GiftCardsResponder {
  private readonly links = new Map<string, Link>();
  private answering: { close(): Promise<void> }[] = [];
  /** How long an answer takes. */
  delayMs = 0;

  private constructor(private readonly natsUrl: string) {}

  static async start(natsUrl: string): Promise<GiftCardsResponder> {
    const responder = new GiftCardsResponder(natsUrl);
    await responder.start();
    return responder;
  }

  /** Also after `stop`: the links are kept. */
  async start(): Promise<void> {
    this.answering = await Promise.all([
      this.answer(GET_REWARD_LINK, () => {}),
      this.answer(REVEAL_REWARD_LINK, (link) => {
        link.asked += 1;
        if (link.view.state === 'EXPIRED') return 'LINK_EXPIRED';
        if (link.view.state === 'RESERVED') link.revealed += 1;
        link.view.state = 'REVEALED';
        return undefined;
      }),
    ]);
  }

  async stop(): Promise<void> {
    await Promise.all(this.answering.splice(0).map((each) => each.close()));
  }

  /** Makes a link and answers its token. */
  addLink(given: Partial<RewardLinkView> = {}, brand: Brand | null = null): string {
    const token = aToken();
    const { card = CARD, ...rest } = given;
    const view = {
      state: 'RESERVED' as const,
      denomination: 25,
      currency: 'EUR',
      country: 'FR',
      expires_at: Math.floor(Date.now() / 1000) + 9 * DAY_S,
      ...rest,
    };
    this.links.set(token, { card, view, brand, asked: 0, revealed: 0 });
    return token;
  }

  link(token: string): Link {
    return this.links.get(token)!;
  }

  private answer(question: typeof GET_REWARD_LINK, act: (link: Link) => 'LINK_EXPIRED' | void) {
    return answer(this.natsUrl, question, async ({ token }): Promise<RewardLinkReply> => {
      if (this.delayMs > 0) await sleep(this.delayMs);
      const link = this.links.get(token);
      if (!link) return { error: 'LINK_NOT_FOUND' };
      const { view, card, brand } = link;
      if (view.state === 'RESERVED' && view.expires_at <= Date.now() / 1000) view.state = 'EXPIRED';
      const error = act(link);
      if (error) return { error, brand };
      return { link: view.state === 'REVEALED' ? { ...view, card } : { ...view }, brand };
    });
  }
}
