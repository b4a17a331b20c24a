import { readWeightedList } from '@perkway/domain';

const TYPES = ['application/json', 'application/*', '*/*', 'text/csv', 'text/*'];

/** Returns whether an `Accept` header prefers CSV to JSON. */
export function wantsCsv(accept: string | undefined): boolean {
  const best = readWeightedList(accept).find((type) => TYPES.includes(type));
  return best === 'text/csv' || best === 'text/*';
}
