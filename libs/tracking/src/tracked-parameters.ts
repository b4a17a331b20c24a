import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { UTM_NAMES } from '@perkway/domain';

const EXAMPLES = {
  utm_source: 'newsletter',
  utm_medium: 'email',
  utm_campaign: 'spring',
  utm_term: 'travel',
  utm_content: 'button',
};
const attribute = (name: string, example: string, description?: string) =>
  ApiQuery({
    name,
    required: false,
    ...(description ? { description } : {}),
    schema: { type: 'string', maxLength: 254 },
    example,
  });

/** Documents the custom attributes (specification section 2). */
export const ApiAttributes = () =>
  applyDecorators(
    attribute('cmeta_user_id', '12345', 'Any name of letters, digits, - and _ after `cmeta_` is taken'),
    ...UTM_NAMES.map((name) => attribute(name, EXAMPLES[name])),
  );

/** Documents what every tracked URL takes beside its own parameters. */
export const ApiTracked = () =>
  applyDecorators(
    ApiQuery({
      name: 'journeyId',
      required: false,
      description: 'A unique id per recipient. Without one Boost takes an id that follows from the campaign',
      schema: { type: 'string', maxLength: 255 },
      example: 'r-4711',
    }),
    ApiQuery({
      name: 'disableTracking',
      required: false,
      description: '`true` or `1` keeps the request out of the statistics',
      schema: { type: 'string' },
      example: 'true',
    }),
    ApiAttributes(),
  );
