/** Makes an id from a name: letters, digits and hyphens. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');

/** Makes an id anew when its name changes, unless somebody has typed another. */
export const followedSlug = (id: string, nameBefore: string, name: string): string =>
  id === '' || id === slugOf(nameBefore) ? slugOf(name) : id;
