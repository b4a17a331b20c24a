/**
 * Any fixed number. Whoever writes events holds it shared until the commit; the refresher of the rollups holds it alone
 * while it moves `closing_to`, so that every writer whose events are not yet to be seen by it will see the new value.
 */
export const INGEST_LOCK = 7_271_003;
