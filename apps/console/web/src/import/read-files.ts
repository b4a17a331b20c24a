import { parse } from 'yaml';
import { texts } from '../texts';
import { perksFromCsv } from './csv';

const t = texts.catalogue;
export type Kind = 'categories' | 'perks' | 'perk-collections';
export interface Item {
  kind: Kind;
  id: string;
  body: Record<string, unknown>;
}
type Members = Record<string, unknown>;

/** The order of writing: referenced resources before those that reference them. */
const ORDER: Kind[] = ['categories', 'perks', 'perk-collections'];

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws an Error for the user, naming the file */
export async function readFiles(files: File[]): Promise<Item[]> {
  const items = (await Promise.all(files.map(itemsOf))).flat();
  return items.sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));
}

async function itemsOf(file: File): Promise<Item[]> {
  const text = await file.text();
  if (/\.csv$/i.test(file.name)) return perksFromCsv(text).map((perk) => itemOf(file.name, 'perks', perk));
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw new Error(t.notYaml(file.name, (error as Error).message.split('\n')[0]!), { cause: error });
  }
  if (isMembers(content) && Array.isArray(content.groups))
    return [itemOf(file.name, 'perk-collections', content)];
  if (isMembers(content) && Array.isArray(content.perks))
    return content.perks
      .filter(isMembers)
      .map((perk) => itemOf(file.name, 'perks', withShared(content, perk)));
  if (Array.isArray(content)) {
    const list = content.filter(isMembers);
    if (list.length > 0 && list.every((one) => 'groups' in one))
      return list.map((one) => itemOf(file.name, 'perk-collections', one));
    if (list.length > 0 && list.every((one) => 'offer_url' in one))
      return list.map((one) => itemOf(file.name, 'perks', withShared({}, one)));
    if (list.length > 0 && list.every((one) => 'slug' in one))
      return list.map((one) => itemOf(file.name, 'categories', one));
  }
  throw new Error(t.unknownFile(file.name));
}

function itemOf(file: string, kind: Kind, { id, ...body }: Members): Item {
  if (id === undefined || id === null || id === '') throw new Error(t.noId(file));
  return { kind, id: String(id), body };
}

/**
 * Applies shorthands: `partner` and `logo` may be given once for all perks; `banner` and `logo` belong into `media`.
 */
function withShared(file: Members, { banner, logo = file.logo, ...perk }: Members): Members {
  const media = {
    ...(isMembers(perk.media) && perk.media),
    ...(banner ? { banner } : {}),
    ...(logo ? { logo } : {}),
  };
  return { ...(file.partner ? { partner: file.partner } : {}), ...perk, media };
}
