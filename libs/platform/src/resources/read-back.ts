import type { Type } from '@nestjs/common';

const READ_BACK = Symbol('perkway:read-back');

/** Members of a response that no PUT sets. */
const READ_ONLY = ['id', 'created_at', 'updated_at', 'inventories'];

/**
 * Marks a body in which unknown members are rejected at any depth, because they are mistakes that might go unnoticed
 * for months. Read-only members are ignored, so that a response can be put back.
 *
 * @param more read-only members of this resource
 */
export const ReadBack =
  (...more: string[]): ClassDecorator =>
  (target) => {
    Object.defineProperty(target, READ_BACK, { value: [...READ_ONLY, ...more] });
  };

/** Returns the ignored members of this body class; undefined if all unknown members are ignored. */
export const readOnlyOf = (type: Type | undefined): string[] | undefined =>
  type && (type as { [READ_BACK]?: string[] })[READ_BACK];
