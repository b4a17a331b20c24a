const ATTRIBUTE = 'cmeta_';

/** Returns the name of a `cmeta_*` attribute in words; undefined for another member. Takes names without the cube. */
export const attributeOf = (member: string): string | undefined =>
  member.startsWith(ATTRIBUTE) ? member.slice(ATTRIBUTE.length).replaceAll('_', ' ') : undefined;
