import {
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  type Brand,
  type LanguageWish,
  type ProductView,
  type RewardLinkReply,
  type RewardLinkView,
} from '@perkway/domain';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { answer, type Answering } from './answer.js';

interface FakeLink {
  card: { code: string; pin?: string };
  view: Omit<RewardLinkView, 'card'>;
  brand: Brand | null;
  product: ProductView | null;
  /** The language last asked for. */
  wish?: LanguageWish;
  /** Reveal requests that arrived. */
  asked: number;
  /** Those that changed the state. */
  revealed: number;
}

/** What the links of the fake show, if nothing else is given. */
export const CARD = { code: 'GIFT-7K2M-93QX-44TR', pin: '4071' };
const DAY_S = 86_400;

/** A link's token in the form of the real ones. */
export const aLinkToken = (): string => randomBytes(32).toString('base64url');

/**
 * Stands in for gift-cards on a real broker, as the Allocation Page sees it: answers what a link shows and keeps the
 * state of each link as the specification has it (section 3).
 */
export class FakeGiftCards {
  private readonly links = new Map<string, FakeLink>();
  private answering: Answering<object>[] = [];
  /** How long an answer takes. */
  delayMs = 0;

  private constructor(private readonly natsUrl: string) {}

  static async start(natsUrl: string): Promise<FakeGiftCards> {
    const fake = new FakeGiftCards(natsUrl);
    await fake.start();
    return fake;
  }

  /** Also after `close`: the links are kept. */
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

  async close(): Promise<void> {
    await Promise.all(this.answering.splice(0).map((each) => each.close()));
  }

  /** Makes a link and answers its token. */
  addLink(
    given: Partial<RewardLinkView> = {},
    brand: Brand | null = null,
    product: ProductView | null = null,
  ): string {
    const token = aLinkToken();
    const { card = CARD, ...rest } = given;
    const view = {
      state: 'RESERVED' as const,
      denomination: 25,
      currency: 'EUR',
      country: 'FR',
      expires_at: Math.floor(Date.now() / 1000) + 9 * DAY_S,
      ...rest,
    };
    this.links.set(token, { card, view, brand, product, asked: 0, revealed: 0 });
    return token;
  }

  link(token: string): FakeLink {
    return this.links.get(token)!;
  }

  private answer(question: typeof GET_REWARD_LINK, act: (link: FakeLink) => 'LINK_EXPIRED' | void) {
    return answer(this.natsUrl, question, async ({ token, ...wish }): Promise<RewardLinkReply> => {
      if (this.delayMs > 0) await sleep(this.delayMs);
      const link = this.links.get(token);
      if (!link) return { error: 'LINK_NOT_FOUND' };
      link.wish = wish;
      const { view, card, brand, product } = link;
      if (view.state === 'RESERVED' && view.expires_at <= Date.now() / 1000) view.state = 'EXPIRED';
      const error = act(link);
      if (error) return { error, brand };
      const language = product && 'en';
      if (view.state === 'REVEALED') return { link: { ...view, card }, brand, product, language };
      const shown = product && { name: product.name, logo: product.logo, color: product.color };
      return { link: { ...view }, brand, product: shown, language };
    });
  }
}
