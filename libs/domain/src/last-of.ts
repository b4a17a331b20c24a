/** Returns the last value of a repeated query parameter. Every host uses the last one. */
export const lastOf = <T>(value: T | readonly T[]): T | undefined =>
  Array.isArray(value) ? (value.at(-1) as T | undefined) : (value as T);
