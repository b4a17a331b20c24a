/** Matches `/`, and `/%23…` where a mail program has encoded the fragment into the path, once or several times. */
export const isPage = (address: string): boolean => /^\/(?:$|[?#]|%(?:25)*23)/.test(address);

/** Returns false for paths that only programs request. */
export const isForPerson = (address: string): boolean => !/^\/(?:api|assets)(?:[/?#]|$)/.test(address);
