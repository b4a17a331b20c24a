import { Injectable, ValidationPipe, type PipeTransform, type ValidationError } from '@nestjs/common';
import { DomainError, invalidField, isCallerId, type FieldProblem } from '@perkway/domain';

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
      const detail = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
      return new DomainError('VALIDATION_FAILED', detail || 'The body must be a JSON object', fields);
    },
  });

/** A path parameter that holds an id given by a caller: `@Param('perkId', CallerIdPipe)`. */
@Injectable()
export class CallerIdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown, { data }: { data?: string }): string {
    if (!isCallerId(value))
      throw invalidField(data ?? 'id', 'must have 1 to 100 characters of A-Z a-z 0-9 . _ -');
    return value;
  }
}
