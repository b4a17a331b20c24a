import type { AppName } from './apps.js';

/**
 * The contract of an RPC over NATS that one app serves for others: called with `RpcClient.request`, served by an
 * `@RpcHandler`, both in the platform library.
 */
export interface RpcContract<Request extends object, Reply extends object> {
  subject: string;
  owner: AppName;
  callers: readonly AppName[];
  /** The service name in error messages: "... is not available, please try again". */
  serviceName: string;
  /** Only for a Lookup. */
  maxIdsPerMessage?: number;
  /** For the compiler only: carries the request and reply types. */
  types?: { request: Request; reply: Reply };
}

export interface LookupRequest {
  ids: string[];
}

/**
 * An RPC that returns values by id; unknown ids are missing from the reply. A caller may pass any number of ids: the
 * platform library splits them into as many messages as needed (docs/adr/0015-rpc-contracts.md).
 */
export interface Lookup<Value, Options extends object = object> extends RpcContract<
  LookupRequest & Options,
  Record<string, Value>
> {
  /**
   * Maximum number of ids per message, which bounds the work for one response. The response is also limited in bytes.
   */
  maxIdsPerMessage: number;
}

/** The reply to a Lookup on the wire: values of the known ids among the first `answered` ids of the request. */
export interface LookupReply<Value> {
  found: Record<string, Value>;
  answered: number;
}

/** Limit on a Lookup's reply. A broker with default settings accepts messages of up to 1,048,576 bytes. */
export const MAX_RESPONSE_BYTES = 1_000_000;
