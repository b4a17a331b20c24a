import { slugOf } from '@perkway/domain/slug';

/** Makes an id anew when its name changes, unless somebody has typed another. */
export const followedSlug = (id: string, nameBefore: string, name: string): string =>
  id === '' || id === slugOf(nameBefore) ? slugOf(name) : id;
