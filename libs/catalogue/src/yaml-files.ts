import { isRecord } from '@perkway/domain/is-record';
import { parse, YAMLParseError } from 'yaml';

import type { Problem } from './problem.js';
import type { InFile, Perk } from './resources.js';

/** Returns undefined and adds a problem if the text is not valid YAML. */
export function parseYaml(file: string, text: string, problems: Problem[]): unknown {
  try {
    return parse(text) as unknown;
  } catch (error) {
    const row = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    problems.push({
      file,
      row,
      message: `not valid YAML (${(error as Error).message.split('\n')[0]})`,
    });
    return undefined;
  }
}

/** Returns the entries of a list. Adds a problem if the content is something else. */
export function entriesOf<T extends object>(
  file: string,
  content: unknown,
  problems: Problem[],
): InFile<T>[] {
  if (Array.isArray(content) && content.every(isRecord))
    return (content as T[]).map((entry) => ({ ...entry, file }));
  // Invalid YAML has its problem already.
  if (content !== undefined) problems.push({ file, message: 'must be a list of maps' });
  return [];
}

/** Returns the only entry of a file. Adds a problem if the content is something else. */
export function entryOf<T extends object>(file: string, content: unknown, problems: Problem[]): InFile<T>[] {
  if (isRecord(content)) return [{ ...(content as T), file }];
  if (content !== undefined) problems.push({ file, message: 'must be a map' });
  return [];
}

/**
 * Reads a list of perks, or a map with the list `perks`. A map may state `partner` and `logo` once for all its perks;
 * `banner` and `logo` of a perk move to `media`.
 */
export function perksOf(file: string, content: unknown, problems: Problem[]): InFile<Perk>[] {
  const shared = isRecord(content) ? content : { perks: content };
  type Written = Perk & { banner?: string; logo?: string };
  return entriesOf<Written>(file, 'perks' in shared ? shared['perks'] : null, problems).map(
    ({ banner, logo = shared['logo'] as string, media, ...perk }) => ({
      ...perk,
      partner: perk.partner ?? shared['partner'],
      media: { ...(banner && { banner }), ...(logo && { logo }), ...media },
      locations: perk.locations ?? [],
      translations: perk.translations ?? {},
    }),
  );
}
