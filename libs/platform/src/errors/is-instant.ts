import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { buildMessage, isISO8601, ValidateBy } from 'class-validator';
import { invalidField } from '@perkway/domain';

/** A local time would mean another time on another server. ISO 8601 also has week dates, which `Date` cannot read. */
const FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' &&
  FORM.test(value) &&
  isISO8601(value, { strict: true }) &&
  !Number.isNaN(Date.parse(value));

/** Accepts a date and time with a time zone, or with `isFuture` only one after now. Adds itself to the OpenAPI document. */
export const IsInstant = ({ isFuture = false } = {}) =>
  applyDecorators(
    ApiProperty({ type: String, format: 'date-time' }),
    ValidateBy({
      name: 'isInstant',
      validator: {
        validate: (value) => isInstant(value) && (!isFuture || Date.parse(value) > Date.now()),
        defaultMessage: buildMessage(
          (each) =>
            `${each}$property must be ${isFuture ? 'a future' : 'an'} ISO 8601 time with a time zone: Z or an offset`,
        ),
      },
    }),
  );

const DATE_OR_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Reads a query parameter as a date or time in ISO 8601. Without an offset it is in UTC.
 * @throws ApiError VALIDATION_FAILED
 */
export function readTime(field: string, given: unknown): Date {
  // A `+` that was not encoded arrives as a space.
  const text = typeof given === 'string' ? given.replace(' ', '+') : '';
  const form = DATE_OR_TIME.exec(text);
  const isLocal = text.includes('T') && form?.[1] === undefined;
  const time = new Date(form && isISO8601(text, { strict: true }) ? text + (isLocal ? 'Z' : '') : NaN);
  // An offset may lead into a year of five digits, which Postgres cannot read in the form that `Date` writes.
  if (!(time.getUTCFullYear() <= 9999)) throw invalidField(field, 'must be a date or a time in ISO 8601');
  return time;
}
