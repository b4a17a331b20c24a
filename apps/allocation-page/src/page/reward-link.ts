/** The response of `/api/reward-link`. */
export interface RewardLink {
  state: 'RESERVED' | 'REVEALED' | 'EXPIRED';
  denomination: number;
  currency: string;
  country: string;
  /** Unix seconds. */
  expires_at: number;
  /** The sender has cancelled the link. */
  cancelled?: true;
  card?: { code: string; pin?: string };
  brand?: Brand;
  product?: Product;
}

export interface Brand {
  name: string;
  color: string | null;
  logo: string | null;
  support_url?: string | null;
}

/** Only a revealed card has more than the first three fields. */
export interface Product {
  name: string;
  logo: string | null;
  color: string | null;
  instructions?: string | null;
  redeem_url?: string | null;
  terms_url?: string | null;
  code_format?: 'text' | 'qr' | 'code128';
}
