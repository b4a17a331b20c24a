import type { OpenAPIObject } from '@nestjs/swagger';

// @nestjs/swagger exports only the type of the whole document.
type Components = Required<NonNullable<OpenAPIObject['components']>>;
type Component<Kind extends keyof Components> = Exclude<Components[Kind][string], { $ref: string }>;

export type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
export type Schema = Components['schemas'][string];
export type SchemaObject = Component<'schemas'>;
export type Parameter = Component<'parameters'>;
export type Header = Component<'headers'>;
export type RequestBody = Component<'requestBodies'>;
export type Response = Component<'responses'>;
export type SecurityScheme = Component<'securitySchemes'>;
