import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { characters, isStorableText } from '@perkway/domain';
import { buildMessage, ValidateBy, type ValidationOptions } from 'class-validator';

export const isText = (value: unknown, min: number, max: number): value is string => {
  if (typeof value !== 'string' || !isStorableText(value)) return false;
  const length = characters(value);
  return length >= min && length <= max;
};

/** Accepts a storable string of `min` to `max` characters. Adds itself to the OpenAPI document, except with `each`. */
export const IsText = (min: number, max: number, options?: ValidationOptions) =>
  applyDecorators(
    ...(options?.each ? [] : [ApiProperty({ type: String, minLength: min || undefined, maxLength: max })]),
    ValidateBy(
      {
        name: 'isText',
        validator: {
          validate: (value) => isText(value, min, max),
          defaultMessage: buildMessage(
            (each) => `${each}$property must be a string of ${min} to ${max} characters without NUL`,
            options,
          ),
        },
      },
      options,
    ),
  );
