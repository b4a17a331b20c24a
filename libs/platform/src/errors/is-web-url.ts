import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { redirectTarget } from '@perkway/domain';
import { buildMessage, ValidateBy } from 'class-validator';
import { isText } from './is-text.js';

const MAX_URL_LENGTH = 2_048;

const isWebUrl = (value: unknown): value is string =>
  // Parsers silently drop white space and control characters, so a browser might open another address.
  isText(value, 1, MAX_URL_LENGTH) && !/[\s\p{Cc}]/u.test(value) && redirectTarget(value) !== undefined;

/** Accepts an absolute http(s) URL without user or password. Adds itself to the OpenAPI document. */
export const IsWebUrl = () =>
  applyDecorators(
    ApiProperty({ type: String, maxLength: MAX_URL_LENGTH }),
    ValidateBy({
      name: 'isWebUrl',
      validator: {
        validate: isWebUrl,
        defaultMessage: buildMessage(
          () =>
            `$property must be an absolute http(s) URL without user or password, of at most ${MAX_URL_LENGTH} characters`,
        ),
      },
    }),
  );
