import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiQuery } from '@nestjs/swagger';

/** Documents that the response has texts in the reader's language. */
export const ApiLanguage = () =>
  applyDecorators(
    ApiQuery({
      name: 'lang',
      required: false,
      description:
        'Language tag; takes precedence over Accept-Language. An unknown one selects the default language.',
      schema: { type: 'string' },
    }),
    ApiHeader({
      name: 'Accept-Language',
      required: false,
      description:
        'As browsers send it. `fr-CA` falls back to `fr`, then to the default language, for each field.',
      schema: { type: 'string' },
    }),
  );
