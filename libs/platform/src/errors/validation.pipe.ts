import { ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { ApiError, invalidFields, isRecord, type FieldProblem } from '@perkway/domain';
import { namedProto } from '../http/deferred-body.guard.js';
import { readOnlyOf } from '../resources/read-back.js';

/** Limits the size of the response: a body may have thousands of invalid fields. */
const MAX_PROBLEMS = 50;
const MAX_NAME_SHOWN = 100;

/**
 * Returns one problem per field. If several constraints fail, reports that of the topmost decorator, which checks the
 * type. Decorators run bottom-up, so its constraint is the last.
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
    // An object validator may name the inner field: "translations.fr.name is ...".
    const [, inside = ''] = new RegExp(`^${property}(\\.\\S+) `).exec(message) ?? [];
    // class-validator starts messages with the property name, which `field` already gives.
    const own = message
      .replace(new RegExp(`^${property}(?:\\.\\S+)? `), '')
      .replace(`each value in ${error.property} `, 'has an invalid value: each ')
      .replace(' conforming to the specified constraints', '');
    return [{ field: field + inside, message: own }];
  });

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Finds members that class-transformer drops silently, so that `forbidNonWhitelisted` never sees them. */
function droppedMembers(value: unknown, path = ''): FieldProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  const found = [
    ...(namedProto(value) ? ['__proto__'] : []),
    ...Object.keys(value).filter((name) => name in Object.prototype),
  ].map((name) => ({ field: path + name, message: 'is unknown' }));
  return [
    ...found,
    ...Object.entries(value).flatMap(([name, part]) =>
      droppedMembers(part, `${path}${name.slice(0, MAX_NAME_SHOWN)}.`),
    ),
  ];
}

const OPTIONS = {
  transform: true,
  whitelist: true,
  forbidUnknownValues: true,
  exceptionFactory: (errors: ValidationError[]) => {
    const fields = flatten(errors);
    return fields.length > 0
      ? invalidFields(fields.slice(0, MAX_PROBLEMS))
      : new ApiError('VALIDATION_FAILED', 'The body must be a JSON object');
  },
};

/** Validates bodies against their DTO classes. Unknown members are ignored, or rejected for `@ReadBack` classes. */
class BodyPipe extends ValidationPipe {
  private readonly strict = new ValidationPipe({ ...OPTIONS, forbidNonWhitelisted: true });

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const readOnly = readOnlyOf(metadata.metatype);
    if (!readOnly) return super.transform(value, metadata);
    const dropped = droppedMembers(value);
    if (dropped.length > 0) throw invalidFields(dropped.slice(0, MAX_PROBLEMS));
    const given = isRecord(value)
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !readOnly.includes(name)))
      : value;
    return this.strict.transform(given, metadata);
  }
}

export const createValidationPipe = (): ValidationPipe => new BodyPipe(OPTIONS);
