import { Injectable, ValidationPipe, type PipeTransform, type ValidationError } from '@nestjs/common';
import { DomainError, invalidField, isCallerId, type FieldProblem } from '@perkway/domain';

const flatten = (errors: ValidationError[], parent = ''): FieldProblem[] =>
  errors.flatMap((error) => {
    const field = parent ? `${parent}.${error.property}` : error.property;
    const own = Object.values(error.constraints ?? {}).map((message) => ({
      field,
      message: message.replace(new RegExp(`^(each value in )?${escapeRegExp(error.property)} `), '$1'),
    }));
    return [...own, ...flatten(error.children ?? [], field)];
  });

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Bodies against their DTO classes; members that the DTO does not name are ignored. */
export const createValidationPipe = (): ValidationPipe =>
  new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidUnknownValues: true,
    stopAtFirstError: true,
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
