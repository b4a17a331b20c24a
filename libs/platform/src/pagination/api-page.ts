import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiQuery, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ApiProblems } from '../openapi/api-problems.js';
import { DEFAULT_LIMIT, MAX_LIMIT, type Listing } from './keyset-paginator.js';

/**
 * Documents a paginated list.
 *
 * @param item class of its items
 * @param order a description: "Ordered by id"
 */
export const ApiPage = (item: Type, order: string, { limitError, cursorError }: Omit<Listing, 'name'> = {}) =>
  applyDecorators(
    ApiQuery({
      name: 'limit',
      required: false,
      description: 'Maximum number of items per page',
      schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    }),
    ApiQuery({
      name: 'cursor',
      required: false,
      description: 'The `next_cursor` of the previous page, of the same list with the same filters',
      schema: { type: 'string' },
    }),
    ApiExtraModels(item),
    ApiResponse({
      status: 200,
      description: order,
      schema: {
        type: 'object',
        required: ['data', 'next_cursor'],
        properties: {
          data: { type: 'array', items: { $ref: getSchemaPath(item) } },
          next_cursor: {
            type: 'string',
            nullable: true,
            description: 'Cursor of the next page; null on the last one',
            example: 'q1bYd0lZt3sGm0aF5xk2pVsiZmVybndheS13ZWVrZW5kIl0',
          },
        },
      },
    }),
    ApiProblems(limitError ?? 'VALIDATION_FAILED', cursorError ?? 'VALIDATION_FAILED'),
  );
