/** What `/api/reward-link` answers. */
export interface RewardLink {
  state: 'RESERVED' | 'REVEALED' | 'EXPIRED';
  denomination: number;
  currency: string;
  country: string;
  /** Unix seconds. */
  expires_at: number;
  card?: { code: string; pin?: string };
  brand?: Brand;
}

export interface Brand {
  name: string;
  color: string | null;
  logo: string | null;
}
