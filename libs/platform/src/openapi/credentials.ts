import type { Type } from '@nestjs/common';
import type { ErrorCode } from '@perkway/domain';
import type { Header, Parameter, SecurityScheme } from './types.js';

/** A handler and its controller, which carry the decorators' metadata, in the order that Nest's Reflector expects. */
export type Route = [handler: (...args: never[]) => unknown, controller: Type];

/** The requirements of a guard for the callers of one handler. */
export interface Requirements {
  /** The scope that a key with scopes must have; shown as `x-required-scope`. */
  scope?: string | undefined;
  /** Error codes of the guard itself. */
  errors: ErrorCode[];
  /** Parameters that the guard reads besides the credential. */
  parameters?: Parameter[];
  /** Response headers that the guard sets, such as those of rate limits. */
  headers?: Record<string, Header>;
}

/** Describes a guard for the OpenAPI document. The module that registers the guard provides it as `CREDENTIALS`. */
export interface Credentials {
  /** Name of the security scheme in the document. */
  name: string;
  scheme: SecurityScheme;
  /** Returns undefined if the guard admits everybody. */
  requirementsOf(route: Route): Requirements | undefined;
}
export const CREDENTIALS = Symbol('CREDENTIALS');
