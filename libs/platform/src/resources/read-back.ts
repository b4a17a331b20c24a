import type { Type } from '@nestjs/common';

const READ_BACK = Symbol('perkway:read-back');

/** Members of what is read that no PUT sets. */
const READ_ONLY = ['id', 'created_at', 'updated_at', 'inventories'];

/**
 * The body of a PUT of what can also be read. A member that the class does not name is refused, at any depth, because it
 * is a mistake that would otherwise be noticed months later; the read-only ones are let through and ignored, so
 * that what was read can be put back.
 *
 * @param more read-only members of this kind
 */
export const ReadBack =
  (...more: string[]): ClassDecorator =>
  (target) => {
    Object.defineProperty(target, READ_BACK, { value: [...READ_ONLY, ...more] });
  };

/** The members that are ignored in a body of this class; undefined where unknown ones are ignored too. */
export const readOnlyOf = (type: Type | undefined): string[] | undefined =>
  type && (type as { [READ_BACK]?: string[] })[READ_BACK];
