import {
  SUBJECTS,
  type Brand,
  type RewardLinkReply,
  type RewardLinkRequest,
  type RewardLinkView,
} from '@perkway/domain';
import { connect, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { randomBytes } from 'node:crypto';

interface Link {
  card: { code: string; pin?: string };
  view: Omit<RewardLinkView, 'card'>;
  brand: Brand | null;
  /** Reveal requests that arrived, and those that changed the state. */
  asked: number;
  revealed: number;
}

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/**
 * The owner of the links as the page sees it: answers the two subjects over a real NATS server in the wire format of
 * Nest's request/reply, and keeps the state of each link as the specification has it (section 3).
 */
export class GiftCardsResponder {
  private readonly links = new Map<string, Link>();
  /** All requests that have arrived, by subject. */
  readonly requests: string[] = [];
  delayMs = 0;

  private constructor(private readonly connection: NatsConnection) {
    this.answer(SUBJECTS.getRewardLink, (link) => link);
    this.answer(SUBJECTS.revealRewardLink, (link) => {
      link.asked += 1;
      if (link.view.state === 'EXPIRED') return 'LINK_EXPIRED';
      if (link.view.state === 'RESERVED') link.revealed += 1;
      link.view.state = 'REVEALED';
      return link;
    });
  }

  static async start(natsUrl: string): Promise<GiftCardsResponder> {
    const responder = new GiftCardsResponder(await connect({ servers: natsUrl }));
    await responder.connection.flush();
    return responder;
  }

  stop(): Promise<void> {
    return this.connection.close();
  }

  /** Makes a link and answers its token, in the form of the real ones. */
  addLink(view: Partial<RewardLinkView> = {}, brand: Brand | null = null): string {
    const token = randomBytes(32).toString('base64url');
    const { card = { code: 'GIFT-7K2M-93QX-44TR', pin: '4071' }, ...given } = view;
    this.links.set(token, {
      card,
      view: {
        state: 'RESERVED',
        denomination: 25,
        currency: 'EUR',
        country: 'FR',
        expires_at: inSeconds(9 * 86_400),
        ...given,
      },
      brand,
      asked: 0,
      revealed: 0,
    });
    return token;
  }

  link(token: string): Link {
    return this.links.get(token)!;
  }

  private answer(subject: string, act: (link: Link) => Link | 'LINK_EXPIRED') {
    this.connection.subscribe(subject, {
      queue: 'gift-cards',
      callback: (_error, message) => {
        this.requests.push(subject);
        setTimeout(() => this.respond(message, act), this.delayMs);
      },
    });
  }

  private respond(message: Msg, act: (link: Link) => Link | 'LINK_EXPIRED') {
    const { id, data } = message.json<{ id: string; data: RewardLinkRequest }>();
    message.respond(JSON.stringify({ id, isDisposed: true, response: this.replyTo(data.token, act) }));
  }

  private replyTo(token: string, act: (link: Link) => Link | 'LINK_EXPIRED'): RewardLinkReply {
    const found = this.links.get(token);
    if (!found) return { error: 'LINK_NOT_FOUND' };
    if (found.view.state === 'RESERVED' && found.view.expires_at <= Date.now() / 1000)
      found.view.state = 'EXPIRED';
    const link = act(found);
    if (typeof link === 'string') return { error: link, brand: found.brand };
    const { view, card, brand } = link;
    return { link: view.state === 'REVEALED' ? { ...view, card } : view, brand };
  }
}
