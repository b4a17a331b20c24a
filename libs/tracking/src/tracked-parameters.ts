import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { ATTRIBUTE_VALUE_LIMIT, MAX_JOURNEY_ID_LENGTH, UTM_NAMES } from '@perkway/domain';

const VALUE = { type: 'string', maxLength: ATTRIBUTE_VALUE_LIMIT - 1 } as const;

/** Query parameters for custom attributes (specification section 2). */
export const ApiAttributes = () =>
  applyDecorators(
    // The object stands for any number of parameters, one per member.
    ApiQuery({
      name: 'cmeta_*',
      required: false,
      description:
        'Any parameters whose names are `cmeta_` and letters, digits, `-` or `_`, such as `cmeta_user_id=12345`',
      style: 'form',
      explode: true,
      schema: { type: 'object', additionalProperties: VALUE, default: {} },
    }),
    ...UTM_NAMES.map((name) => ApiQuery({ name, required: false, schema: VALUE })),
  );

/** Query parameters of every tracked URL, besides its own. */
export const ApiTracked = () =>
  applyDecorators(
    ApiQuery({
      name: 'journeyId',
      required: false,
      description: 'A unique id per recipient, chosen by the caller. A longer one counts as omitted',
      schema: { type: 'string', maxLength: MAX_JOURNEY_ID_LENGTH },
    }),
    ApiQuery({
      name: 'disableTracking',
      required: false,
      description: '`true` or `1` keeps the request out of the statistics',
      schema: { type: 'string' },
    }),
    ApiAttributes(),
  );
