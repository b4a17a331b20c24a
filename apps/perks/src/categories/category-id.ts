import { invalidField } from '@perkway/domain';

export const MAX_CATEGORY_ID = 2_147_483_647;

const isCategoryId = (id: number): boolean => Number.isInteger(id) && id >= 1 && id <= MAX_CATEGORY_ID;

/** Parses a category id; returns undefined if it is invalid. */
export const readCategoryId = (text: string): number | undefined =>
  /^\d{1,10}$/.test(text) && isCategoryId(Number(text)) ? Number(text) : undefined;

/** Parses a category id. @throws ApiError VALIDATION_FAILED naming the field */
export function requireCategoryId(text: string, field = 'id'): number {
  const id = readCategoryId(text);
  if (id === undefined) throw invalidField(field, `must be an integer from 1 to ${MAX_CATEGORY_ID}`);
  return id;
}
