import type { Documents } from '@perkway/client/documents';
import type { HEADERS, OPERATIONS } from './operations.js';

/** True for what nothing is known of. */
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
/** The client sends its key in the header. */
type Query<O> = Omit<Part<O, 'query'>, 'api_key' | 'cmeta_*'>;
type Headers<O> = {
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
/** The client makes one where there is none. */
type Idempotent<T> = 'idempotencyKey' extends keyof T
  ? Omit<T, 'idempotencyKey'> & { idempotencyKey?: string }
  : T;
/** What a body says as well is said there. */
type Sent<O> = Part<O, 'path'> &
  Omit<Idempotent<Query<O>>, keyof Body<O>> &
  Headers<O> &
  Omit<Body<O>, keyof Part<O, 'path'>>;

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Unknown = any;

export type InputOf<O> = IsAny<O> extends true ? Unknown : Simplify<Sent<O>> & Attributes<O>;

type Content<R> = R extends { content: infer C }
  ? C extends { 'application/json': infer Json }
    ? Json
    : C extends { 'image/png': unknown }
      ? Blob
      : undefined
  : undefined;
type Responses<O> = O extends { responses: infer R } ? R : never;
export type AnswerOf<O> = IsAny<O> extends true ? Unknown : Answer<O>;
type Answer<O> = 302 extends keyof Responses<O>
  ? { location: string }
  : Content<Responses<O>[keyof Responses<O> & (200 | 201 | 202)]> extends infer Answer
    ? [Answer] extends [never]
      ? undefined
      : Answer
    : never;

/** The page that was asked for when it is awaited, all items from there on when it is iterated over. */
export type Paged<Page> = Promise<Page> & AsyncIterable<Page extends { data: (infer Item)[] } ? Item : never>;
type Answered<A> = [A] extends [{ data: unknown[]; next_cursor: string | null }] ? Paged<A> : Promise<A>;

type Loose = (input?: Unknown) => Unknown;
type Method<O> =
  IsAny<O> extends true
    ? Loose
    : Nothing extends InputOf<O>
      ? (input?: InputOf<O>) => Answered<AnswerOf<O>>
      : (input: InputOf<O>) => Answered<AnswerOf<O>>;

export type HostName = keyof typeof OPERATIONS;
export type HostClient<Host extends HostName> = {
  [Name in keyof (typeof OPERATIONS)[Host]]: Method<
    IsAny<Documents[Host]> extends true ? Documents[Host] : Documents[Host][Name & keyof Documents[Host]]
  >;
};
