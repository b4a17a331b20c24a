import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiQuery } from '@nestjs/swagger';

/** The texts of the answer are in the language of the reader. */
export const ApiLanguage = () =>
  applyDecorators(
    ApiQuery({
      name: 'lang',
      required: false,
      description: 'Language tag; wins over Accept-Language. An unknown one gives the default language.',
      schema: { type: 'string' },
    }),
    ApiHeader({
      name: 'Accept-Language',
      required: false,
      description:
        'As browsers send it. `fr-CA` falls back to `fr`, then to the default language, field by field.',
      schema: { type: 'string' },
    }),
  );
