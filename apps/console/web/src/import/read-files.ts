import {
  checkCatalogue,
  completePerks,
  emptyCatalogue,
  entriesOf,
  entryOf,
  lacksPartnerId,
  namesCategories,
  parseYaml,
  perksFromCsv,
  perksOf,
  type Catalogue,
  type InFile,
  type Named,
  type OutsideReference,
  type Problem,
} from '@perkway/catalogue';
import { isRecord } from '@perkway/domain/is-record';
import { labelsOf } from '../field-labels';
import { texts } from '../texts';

export { EXAMPLE_ROW, PERK_COLUMNS } from '@perkway/catalogue';

/** The perk form's labels, which a CSV may have as columns, with their members. */
const LABELS = new Map(Object.entries(labelsOf('perks')).map(([member, label]) => [label, member]));

/** Kinds by their lists in a catalogue, in the order of writing: referenced resources before those that reference them. */
const KINDS = { categories: 'categories', perks: 'perks', collections: 'perk-collections' } as const;
type List = keyof typeof KINDS;
const LISTS = Object.keys(KINDS) as List[];
export type Kind = (typeof KINDS)[List];

/** A resource without problems. */
export interface Item {
  kind: Kind;
  id: string;
  body: Record<string, unknown>;
}

/** Reads from the perks host. */
export interface Host {
  /** Returns the references that no host has. */
  missing: (references: OutsideReference[]) => Promise<OutsideReference[]>;
  categories: () => Promise<Named['categories']>;
  partners: () => Promise<Named['partners']>;
}

/** Reads and checks files. */
export async function readFiles(files: File[], host: Host): Promise<{ items: Item[]; problems: Problem[] }> {
  const problems: Problem[] = [];
  let data = emptyCatalogue();
  for (const file of files) add(data, file.name, await file.text(), problems);
  await complete(data, host);
  const check = async () => {
    const { problems: found, outside } = checkCatalogue(data);
    found.push(...(await host.missing(outside)).map(({ problem }) => problem));
    problems.push(...found);
    return found.length;
  };
  // The rows of a file with an unknown column are checked too, so that all their problems are reported at once.
  data = without(
    data,
    problems.filter(({ entry }) => entry),
  );
  await check();
  // A resource that refers to one with a problem has a problem too, unless the host has that one already.
  do data = without(data, problems);
  while ((await check()) > 0);
  const items = LISTS.flatMap((list) =>
    (data[list] as InFile<{ id: string | number }>[]).map(({ file: _file, row: _row, id, ...body }) => ({
      kind: KINDS[list],
      id: String(id),
      body,
    })),
  );
  return { items, problems };
}

/** Adds missing ids to the perks of CSV files. Asks the host only for what they name: it may have many perks. */
async function complete({ perks, categories }: Catalogue, host: Host): Promise<void> {
  const rows = perks.filter(({ row }) => row !== undefined);
  completePerks(perks, {
    categories: [...(rows.some(namesCategories) ? await host.categories() : []), ...categories],
    partners: rows.some(lacksPartnerId) ? await host.partners() : [],
  });
}

/** Removes resources with a problem, and those of files that cannot be used as a whole. */
function without(data: Catalogue, problems: Problem[]): Catalogue {
  const entries = new Set(problems.map(({ entry }) => entry));
  const files = new Set(problems.flatMap(({ entry, file }) => (entry ? [] : [file])));
  const isSound = (entry: InFile<object>) => !entries.has(entry) && !files.has(entry.file);
  return {
    ...data,
    categories: data.categories.filter(isSound),
    perks: data.perks.filter(isSound),
    collections: data.collections.filter(isSound),
  };
}

/** Adds the resources of a file. Their members tell their kind. */
function add(data: Catalogue, file: string, text: string, problems: Problem[]): void {
  if (/\.csv$/i.test(file)) return void data.perks.push(...perksFromCsv(file, text, problems, LABELS));
  const content = parseYaml(file, text, problems);
  // Invalid YAML has its problem already.
  if (content === undefined) return;
  const has = (value: unknown, member: string) => isRecord(value) && member in value;
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  if (has(content, 'groups')) data.collections.push(...entryOf<never>(file, content, problems));
  else if (has(first, 'groups')) data.collections.push(...entriesOf<never>(file, content, problems));
  else if (has(content, 'perks') || has(first, 'offer_url'))
    data.perks.push(...perksOf(file, content, problems));
  else if (has(first, 'slug')) data.categories.push(...entriesOf<never>(file, content, problems));
  else problems.push({ file, message: texts.catalogue.unknownFile });
}
