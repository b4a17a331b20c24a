import { parse, stringify } from 'yaml';
import { texts } from '../texts';

const isEmpty = (value: unknown) =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

/** Converts nested structure to and from the YAML that people edit, in the format of the catalogue files. */
export const toYaml = (value: unknown) => (isEmpty(value) ? '' : stringify(value, { lineWidth: 0 }));

export function fromYaml<T>(field: string, text: string, ifEmpty: T): T {
  if (!text.trim()) return ifEmpty;
  try {
    return parse(text) as T;
  } catch (error) {
    throw new Error(texts.catalogue.notYaml(field, (error as Error).message.split('\n')[0]!), {
      cause: error,
    });
  }
}
