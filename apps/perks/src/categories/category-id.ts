import { invalidField } from '@perkway/domain';

export const MAX_CATEGORY_ID = 2_147_483_647;

const isCategoryId = (id: number): boolean => Number.isInteger(id) && id >= 1 && id <= MAX_CATEGORY_ID;

/** The id of a category as text, or undefined. */
export const readCategoryId = (text: string): number | undefined =>
  /^\d{1,10}$/.test(text) && isCategoryId(Number(text)) ? Number(text) : undefined;

/** The id of a category in an address. @throws DomainError VALIDATION_FAILED */
export function requireCategoryId(text: string): number {
  const id = readCategoryId(text);
  if (id === undefined) throw invalidField('id', `must be an integer from 1 to ${MAX_CATEGORY_ID}`);
  return id;
}
