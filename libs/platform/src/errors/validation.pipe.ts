import { ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { DomainError, invalidFields, isRecord, type FieldProblem } from '@perkway/domain';
import { readOnlyOf } from '../resources/read-back.js';

/** More than anybody reads, and less than a body can have. */
const MAX_PROBLEMS = 50;
const MAX_NAME_SHOWN = 100;

/**
 * One problem for each field: of all that a value breaks, the decorator that stands first, because that is the one that
 * says what the value is at all. (Decorators are applied, and their constraints listed, from the last to the first.)
 */
const flatten = (errors: ValidationError[], parent = ''): FieldProblem[] =>
  errors.flatMap((error) => {
    const name = error.property.slice(0, MAX_NAME_SHOWN);
    const field = parent ? `${parent}.${name}` : name;
    const { nestedValidation, whitelistValidation, ...constraints } = error.constraints ?? {};
    if (whitelistValidation !== undefined) return [{ field, message: 'is unknown' }];
    const message = Object.values(constraints).at(-1) ?? nestedValidation;
    if (message === undefined) return flatten(error.children ?? [], field);
    const property = escapeRegExp(error.property);
    // A validator of a whole object may name what is wrong inside it: "translations.fr.name is ...".
    const [, inside = ''] = new RegExp(`^${property}(\\.\\S+) `).exec(message) ?? [];
    const own = message.replace(new RegExp(`^(each value )in ${property} |^${property}(?:\\.\\S+)? `), '$1');
    return [{ field: field + inside, message: own }];
  });

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const OPTIONS = {
  transform: true,
  whitelist: true,
  forbidUnknownValues: true,
  exceptionFactory: (errors: ValidationError[]) => {
    const fields = flatten(errors);
    return fields.length > 0
      ? invalidFields(fields.slice(0, MAX_PROBLEMS))
      : new DomainError('VALIDATION_FAILED', 'The body must be a JSON object');
  },
};

/** Bodies against their DTO classes; members that the DTO does not name are ignored, or refused by `@ReadBack` ones. */
class BodyPipe extends ValidationPipe {
  private readonly strict = new ValidationPipe({ ...OPTIONS, forbidNonWhitelisted: true });

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const readOnly = readOnlyOf(metadata.metatype);
    if (!readOnly) return super.transform(value, metadata);
    const given = isRecord(value)
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !readOnly.includes(name)))
      : value;
    return this.strict.transform(given, metadata);
  }
}

export const createValidationPipe = (): ValidationPipe => new BodyPipe(OPTIONS);
