import { applyDecorators, Injectable, type PipeTransform } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { CALLER_ID_FORM, CALLER_ID_PATTERN, invalidField, isCallerId } from '@perkway/domain';
import { Matches, type ValidationOptions } from 'class-validator';

/** @throws ApiError VALIDATION_FAILED naming `field` unless the value is a valid caller-given id */
export function requireCallerId(value: unknown, field: string): string {
  if (!isCallerId(value)) throw invalidField(field, CALLER_ID_FORM);
  return value;
}

/** Validates a path parameter that holds a caller-given id: `@Param('perkId', CallerIdPipe)`. */
@Injectable()
export class CallerIdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown, { data }: { data?: string }): string {
    return requireCallerId(value, data ?? 'id');
  }
}

/** Validates a body member that holds a caller-given id. Adds itself to the OpenAPI document, except with `each`. */
export const IsCallerId = (options?: ValidationOptions) =>
  applyDecorators(
    ...(options?.each ? [] : [ApiProperty({ type: String, pattern: CALLER_ID_PATTERN })]),
    Matches(new RegExp(CALLER_ID_PATTERN), { message: `$property ${CALLER_ID_FORM}`, ...options }),
  );
