import type { ErrorCode } from '@perkway/domain';

const PROBLEMS = Symbol('perkway:problems');

type Target = { [PROBLEMS]?: ErrorCode[] };

/**
 * Documents error codes of a handler, or of all handlers of a controller. Errors of guards, roles, bodies and ids are
 * documented automatically.
 */
export const ApiProblems =
  (...codes: ErrorCode[]): MethodDecorator & ClassDecorator =>
  (target: object, _name?: string | symbol, method?: PropertyDescriptor) => {
    const documented = (method ? method.value : target) as Target;
    documented[PROBLEMS] = [...codes, ...(Object.hasOwn(documented, PROBLEMS) ? documented[PROBLEMS]! : [])];
  };

export const problemsOf = (...targets: object[]): ErrorCode[] =>
  targets.flatMap((target) => (target as Target)[PROBLEMS] ?? []);
