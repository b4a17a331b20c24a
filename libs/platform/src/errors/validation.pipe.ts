import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { DomainError, invalidFields, type FieldProblem } from '@perkway/domain';

/**
 * One problem for each field: of all that a value breaks, the decorator that stands first, because that is the one that
 * says what the value is at all. (Decorators are applied, and their constraints listed, from the last to the first.)
 */
const flatten = (errors: ValidationError[], parent = ''): FieldProblem[] =>
  errors.flatMap((error) => {
    const field = parent ? `${parent}.${error.property}` : error.property;
    const { nestedValidation, ...constraints } = error.constraints ?? {};
    const message = Object.values(constraints).at(-1) ?? nestedValidation;
    const property = escapeRegExp(error.property);
    const own = message?.replace(new RegExp(`^(each value )in ${property} |^${property} `), '$1');
    return own === undefined ? flatten(error.children ?? [], field) : [{ field, message: own }];
  });

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Bodies against their DTO classes; members that the DTO does not name are ignored. */
export const createValidationPipe = (): ValidationPipe =>
  new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidUnknownValues: true,
    exceptionFactory: (errors) => {
      const fields = flatten(errors);
      return fields.length > 0
        ? invalidFields(fields)
        : new DomainError('VALIDATION_FAILED', 'The body must be a JSON object');
    },
  });
