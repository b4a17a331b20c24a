/** The apps of the fleet, by the names of their folders. What each needs to run is in `libs/fleet`. */
export type AppName =
  | 'perks'
  | 'links'
  | 'boost'
  | 'gift-cards'
  | 'allocation-page'
  | 'token-issuer'
  | 'analytics-query'
  | 'console';
