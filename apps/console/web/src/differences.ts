export interface Difference {
  at: string;
  before: string | null;
  after: string | null;
}

/** Members set by the hosts, which are not changes by a user. */
const NOT_OURS = new Set(['id', 'created_at', 'updated_at', 'inventories']);

function flatten(value: unknown, at: string, into: Map<string, string>): Map<string, string> {
  if (value === null || value === undefined || value === '') return into;
  if (typeof value !== 'object') into.set(at, String(value));
  else if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    if (value.length > 0) into.set(at, value.join(', '));
  } else
    for (const [name, inner] of Object.entries(value))
      if (at !== '' || !NOT_OURS.has(name)) flatten(inner, at ? `${at}.${name}` : name, into);
  return into;
}

/** Compares member by member; missing, null and empty are equal. */
export function differencesOf(before: unknown, after: unknown): Difference[] {
  const [old, now] = [flatten(before, '', new Map()), flatten(after, '', new Map())];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((at) => old.get(at) !== now.get(at))
    .map((at) => ({ at, before: old.get(at) ?? null, after: now.get(at) ?? null }));
}
