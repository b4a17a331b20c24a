import type { AppName } from './apps.js';

/** What one app asks another over NATS: sent by `RpcClient.ask`, answered under `@Answers`, both of the platform library. */
export interface Question<Request extends object, Reply extends object> {
  subject: string;
  owner: AppName;
  askers: readonly AppName[];
  /** The owner in words for a person: "... is not available, please try again". */
  away: string;
  /** Of a Lookup. */
  atOnce?: number;
  /** For the compiler alone, which reads here what is asked and answered. */
  types?: { request: Request; reply: Reply };
}

export interface LookupRequest {
  ids: string[];
}

/**
 * What the owner knows of each of many ids; one that it does not know is absent from the reply. Any number may be asked
 * for: the platform library sends as many messages as it takes (docs/adr/0015-questions.md).
 */
export interface Lookup<Value, Options extends object = object> extends Question<
  LookupRequest & Options,
  Record<string, Value>
> {
  /** Most ids in one message, which bounds the work of one answer. How many of them fit back is counted in bytes. */
  atOnce: number;
}

/** How a Lookup is answered on the wire: of the first `answered` ids of the request, those that are known. */
export interface LookupAnswer<Value> {
  found: Record<string, Value>;
  answered: number;
}

/** Of an answer to a Lookup. A broker with default settings takes messages of 1,048,576 bytes. */
export const MAX_ANSWER_BYTES = 1_000_000;
