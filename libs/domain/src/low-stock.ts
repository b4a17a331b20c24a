/** A card value of a pool with fewer available cards is low. */
export const LOW_STOCK = 50;
/** The rate at which stock is used is that of so many days in UTC, today included. */
export const STOCK_RATE_DAYS = 30;
