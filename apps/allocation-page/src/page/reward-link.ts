/** The response of `/api/reward-link`. */
export interface RewardLink {
  state: 'RESERVED' | 'REVEALED' | 'EXPIRED';
  denomination: number;
  currency: string;
  country: string;
  /** Unix seconds. */
  expires_at: number;
  /** The id under which its sender knows the link; not if RESERVED. */
  id?: string;
  /** The sender has cancelled the link. */
  cancelled?: true;
  /** The issuer has recalled the card of the cancelled link. */
  withdrawn?: true;
  /** Another link was made in place of this one. */
  replaced?: true;
  /** `valid_until`: the last day, YYYY-MM-DD. */
  card?: { code: string; pin?: string; valid_until?: string };
  /** Unix seconds. Only if the link was revealed before this request; from the header `Perkway-Revealed-At`. */
  revealed_at?: number;
  /** Language of the product's texts, if there are any; from the header `Content-Language`. */
  language?: string | null;
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
