/** `/`, and `/%23…` where a mail program has put the fragment into the path (once or more often encoded). */
export const isPage = (address: string): boolean => /^\/(?:$|[?#]|%(?:25)*23)/.test(address);

/** False for what only programs ask for. */
export const isForPerson = (address: string): boolean => !/^\/(?:api|assets)(?:[/?#]|$)/.test(address);
