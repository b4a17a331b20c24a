/** The apps of the fleet, named like their folders. `libs/fleet` says what each needs to run. */
export type AppName =
  | 'perks'
  | 'links'
  | 'boost'
  | 'gift-cards'
  | 'allocation-page'
  | 'token-issuer'
  | 'analytics-query'
  | 'console'
  | 'events';
