import type { Type } from '@nestjs/common';
import type { ErrorCode } from '@perkway/domain';
import type { Header, Parameter, SecurityScheme } from './types.js';

/** A handler and its controller: where decorators leave what they say, in the order that Nest's Reflector takes. */
export type Route = [handler: (...args: never[]) => unknown, controller: Type];

/** What a guard asks of the callers of one handler. */
export interface Demands {
  /** What the guard itself refuses with. */
  errors: ErrorCode[];
  /** What the guard reads besides the credential. */
  parameters?: Parameter[];
  /** What answers carry that the guard has counted. */
  headers?: Record<string, Header>;
}

/** What the OpenAPI document says of a guard. The module that registers the guard provides it as `CREDENTIALS`. */
export interface Credentials {
  /** Name of the security scheme in the document. */
  name: string;
  scheme: SecurityScheme;
  /** Undefined where the guard lets everybody in. */
  demandsOf(route: Route): Demands | undefined;
}
export const CREDENTIALS = Symbol('CREDENTIALS');
