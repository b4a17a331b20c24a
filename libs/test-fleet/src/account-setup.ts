import { randomUUID } from 'node:crypto';
import type { Admin } from './send-request.js';

/** Where all perks of a workload lead, followed by the perk's id. */
export const OFFER = 'https://partner.example/offer';
const CATEGORY = 1;

/** Creates the resources of one client account. A repeated `put…` replaces one; `aKey` and `aPool` create another. */
export class AccountSetup {
  constructor(
    private readonly admin: Admin,
    readonly account: string,
  ) {}

  /** Creates the account with a key. */
  async aKey(role: 'USER' | 'JOURNEY' = 'USER'): Promise<{ id: string; key: string }> {
    await this.admin('token-issuer', 'PUT', `/admin/accounts/${this.account}`, { name: this.account });
    return this.admin('token-issuer', 'POST', `/admin/accounts/${this.account}/keys`, { role });
  }

  /** @param more replaces fields of the perks */
  async putPerks(ids: readonly string[], more: object = {}): Promise<void> {
    await this.admin('perks', 'PUT', `/admin/categories/${CATEGORY}`, { slug: 'travel', name: 'Travel' });
    for (const id of ids)
      await this.admin('perks', 'PUT', `/admin/perks/${id}`, {
        title: `Perk ${id}`,
        description: 'A description.',
        callout: '20 % off',
        redemption_note: '',
        details: '',
        offer_url: `${OFFER}/${id}`,
        offer_slug: id,
        partner: { id: 'partner', name: 'Partner' },
        categories: [CATEGORY],
        ...more,
      });
  }

  async putCollection(id: string, perks: readonly string[], group = 'All'): Promise<void> {
    await this.admin('perks', 'PUT', `/admin/perk-collections/${id}`, {
      owner: this.account,
      groups: [{ name: group, rank: 0, perks: perks.map((perk, rank) => ({ id: perk, rank })) }],
    });
  }

  async putCampaign(id: string, incentives: readonly string[]): Promise<void> {
    await this.admin('boost', 'PUT', `/admin/campaigns/${id}`, { owner: this.account, name: id, incentives });
  }

  /** Creates a pool with cards of 25 EUR for France. @returns its id */
  async aPool(cards = 0): Promise<string> {
    const pool = randomUUID();
    await this.admin('gift-cards', 'PUT', `/admin/pools/${pool}`, { owner: this.account });
    if (cards === 0) return pool;
    const rows = Array.from({ length: cards }, (_, index) => `CARD-${pool}-${index},1234,25,EUR,FR\n`);
    const csv = `code,pin,denomination,currency,country\n${rows.join('')}`;
    await this.admin('gift-cards', 'POST', `/admin/pools/${pool}/cards`, csv, 'text/csv');
    return pool;
  }
}
