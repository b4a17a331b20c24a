import { applyDecorators, Injectable, type PipeTransform } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { CALLER_ID_FORM, CALLER_ID_PATTERN, invalidField, isCallerId } from '@perkway/domain';
import { Matches, type ValidationOptions } from 'class-validator';

/** @throws DomainError VALIDATION_FAILED naming `field` unless the value is an id as callers give them */
export function requireCallerId(value: unknown, field: string): string {
  if (!isCallerId(value)) throw invalidField(field, CALLER_ID_FORM);
  return value;
}

/** A path parameter that holds an id given by a caller: `@Param('perkId', CallerIdPipe)`. */
@Injectable()
export class CallerIdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown, { data }: { data?: string }): string {
    return requireCallerId(value, data ?? 'id');
  }
}

/** A member of a body that holds such an id, or a text of the same form. Documents itself, but for `each`. */
export const IsCallerId = (options?: ValidationOptions) =>
  applyDecorators(
    ...(options?.each ? [] : [ApiProperty({ type: String, pattern: CALLER_ID_PATTERN })]),
    Matches(new RegExp(CALLER_ID_PATTERN), { message: `$property ${CALLER_ID_FORM}`, ...options }),
  );
