import type { Documents } from '@perkway/client/documents';
import type { HEADERS, OPERATIONS } from './operations.js';
import type { CallOptions } from './send.js';

/** True for `any`, the placeholder type. */
type IsAny<T> = 0 extends 1 & T ? true : false;
type Simplify<T> = { [Name in keyof T]: T[Name] } & {};

type Nothing = Record<never, never>;
type Part<O, Place extends string> = O extends { parameters: infer P }
  ? Place extends keyof P
    ? [NonNullable<P[Place]>] extends [never]
      ? Nothing
      : NonNullable<P[Place]>
    : Nothing
  : Nothing;
/** Without `api_key`, because the client sends its key in a header, and without `cmeta_*`, see `Attributes`. */
type Query<O> = Omit<Part<O, 'query'>, 'api_key' | 'cmeta_*'>;
type HeaderMembers<O> = {
  [
    Name in keyof typeof HEADERS as (typeof HEADERS)[Name] extends keyof Part<O, 'header'>
      ? undefined extends Part<O, 'header'>[(typeof HEADERS)[Name]]
        ? never
        : Name
      : never
  ]: string;
} & {
  [
    Name in keyof typeof HEADERS as (typeof HEADERS)[Name] extends keyof Part<O, 'header'>
      ? undefined extends Part<O, 'header'>[(typeof HEADERS)[Name]]
        ? Name
        : never
      : never
  ]?: Name extends 'disableViewTracking' ? boolean : string;
};
type Body<O> = O extends { requestBody?: infer B }
  ? [NonNullable<B>] extends [never]
    ? Nothing
    : NonNullable<B> extends { content: infer C }
      ? C extends { 'application/json': infer Json }
        ? Json
        : { body: string | Blob | ReadableStream<Uint8Array>; contentType: keyof C }
      : Nothing
  : Nothing;
type Attributes<O> = 'cmeta_*' extends keyof Part<O, 'query'>
  ? { [name: `cmeta_${string}`]: string }
  : unknown;
/** Makes the key optional, because the client generates a missing one. */
type Idempotent<T> = 'idempotencyKey' extends keyof T
  ? Omit<T, 'idempotencyKey'> & { idempotencyKey?: string }
  : T;
/** Members that exist in both query and body are sent in the body. */
type Sent<O> = Part<O, 'path'> &
  Omit<Idempotent<Query<O>>, keyof Body<O>> &
  Idempotent<HeaderMembers<O>> &
  Omit<Body<O>, keyof Part<O, 'path'>>;

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Unknown = any;

export type InputOf<O> = IsAny<O> extends true ? Unknown : Simplify<Sent<O>> & Attributes<O>;

type Content<R> = R extends { content: infer C }
  ? C extends { 'application/json': infer Json }
    ? Json
    : C extends { 'image/png': unknown }
      ? Blob
      : C extends { 'application/jose': unknown }
        ? string
        : undefined
  : undefined;
type Responses<O> = O extends { responses: infer R } ? R : never;
export type AnswerOf<O> = IsAny<O> extends true ? Unknown : BodyOf<O>;
type BodyOf<O> = 302 extends keyof Responses<O>
  ? { location: string }
  : Content<Responses<O>[keyof Responses<O> & (200 | 201 | 202)]> extends infer BodyOf
    ? [BodyOf] extends [never]
      ? undefined
      : BodyOf
    : never;

/** A response whose body has been read. */
export interface WithResponse<Data> {
  data: Data;
  status: number;
  headers: Headers;
  /** Id under which the service logged the request. */
  requestId: string | undefined;
}

/** Awaiting it gives the data; `withResponse()` also gives status, headers and request id of the same request. */
export interface Call<Data> extends Promise<Data> {
  withResponse(): Promise<WithResponse<Data>>;
}

/** Awaiting it gives the requested page; iterating gives all items from there on. */
export type Paged<Page> = Call<Page> & AsyncIterable<Page extends { data: (infer Item)[] } ? Item : never>;
/** The feed of events has no last page, so its cursor is never null. */
type Resolved<A> = [A] extends [{ data: unknown[]; next_cursor: infer Cursor }]
  ? null extends Cursor
    ? Paged<A>
    : Call<A>
  : Call<A>;

type Loose = (input?: Unknown, options?: CallOptions) => Unknown;
type Method<O> =
  IsAny<O> extends true
    ? Loose
    : Nothing extends InputOf<O>
      ? (input?: InputOf<O>, options?: CallOptions) => Resolved<AnswerOf<O>>
      : (input: InputOf<O>, options?: CallOptions) => Resolved<AnswerOf<O>>;

export type HostName = keyof typeof OPERATIONS;
export type HostClient<Host extends HostName> = {
  [Name in keyof (typeof OPERATIONS)[Host]]: Method<
    IsAny<Documents[Host]> extends true ? Documents[Host] : Documents[Host][Name & keyof Documents[Host]]
  >;
};
