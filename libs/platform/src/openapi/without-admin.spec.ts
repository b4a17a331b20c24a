import type { OpenAPIObject } from '@nestjs/swagger';
import { withoutAdmin } from './without-admin.js';

const returns = (name: string) => ({
  responses: {
    200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } },
  },
});
const properties = (name: string) => ({ properties: { next: { $ref: `#/components/schemas/${name}` } } });

it('removes management calls and the schemas that only they use', () => {
  const document = {
    openapi: '3.0.0',
    paths: {
      '/pools': { get: returns('Pool') },
      '/administrators': { get: returns('Pool') },
      '/admin/pools': { get: returns('StoredPool') },
    },
    components: {
      securitySchemes: { apiKey: {} },
      schemas: {
        Pool: properties('Entry'),
        Entry: properties('Pool'),
        StoredPool: properties('Secret'),
        Secret: {},
      },
    },
  } as unknown as OpenAPIObject;
  const { paths, components } = withoutAdmin(document);
  expect(Object.keys(paths)).toEqual(['/pools', '/administrators']);
  expect(Object.keys(components!.schemas!)).toEqual(['Pool', 'Entry']);
  expect(components!.securitySchemes).toEqual({ apiKey: {} });
  expect(Object.keys(document.paths)).toHaveLength(3);
});
