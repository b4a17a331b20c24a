export interface Campaign {
  id: string;
  /** Id of the account. */
  owner: string;
  name: string;
  /** Perk ids in display order. */
  incentives: string[];
}
