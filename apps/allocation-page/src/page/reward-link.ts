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
  /** The link was cancelled before it was revealed, by its sender or by a withdrawal of its card. */
  cancelled?: true;
  /** The card of the cancelled link is withdrawn, for example recalled by its issuer. */
  withdrawn?: true;
  /** Another link was made in place of this one. */
  replaced?: true;
  /** `valid_until`: the last day, YYYY-MM-DD. */
  card?: { code: string; pin?: string; valid_until?: string };
  /** Unix seconds; 0 unless the link was revealed before this request. From the header `Perkway-Revealed-At`. */
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
