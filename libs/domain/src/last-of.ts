/** Of a repeated query parameter the last value counts, on every host. */
export const lastOf = <T>(value: T | readonly T[]): T | undefined =>
  Array.isArray(value) ? (value.at(-1) as T | undefined) : (value as T);
