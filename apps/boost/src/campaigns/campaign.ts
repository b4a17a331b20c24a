export interface Campaign {
  id: string;
  /** The account. */
  owner: string;
  name: string;
  /** Perk ids in the order in which they are shown. */
  incentives: string[];
}
