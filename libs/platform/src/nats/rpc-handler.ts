import {
  applyDecorators,
  UseInterceptors,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { MAX_RESPONSE_BYTES, type LookupReply, type LookupRequest, type RpcContract } from '@perkway/domain';
import { map } from 'rxjs';

/**
 * Marks the method that handles an RPC: it takes the request and returns the reply. A Lookup reply may be of any size;
 * the caller fetches it in several messages. The app definition must set `hasRpcHandlers`.
 */
export const RpcHandler =
  <Request extends object, Reply extends object>(contract: RpcContract<Request, Reply>) =>
  <Method extends (request: Request) => Reply | Promise<Reply>>(
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void =>
    applyDecorators(
      MessagePattern(contract.subject),
      ...(contract.maxIdsPerMessage === undefined ? [] : [UseInterceptors(handleLookup)]),
    )(target, key, descriptor);

const handleLookup: NestInterceptor<Record<string, unknown>, LookupReply<unknown>> = {
  intercept: (context: ExecutionContext, next) => {
    const { ids } = context.switchToRpc().getData<LookupRequest>();
    return next.handle().pipe(map((known) => fitIntoMessage(ids, known)));
  },
};

/**
 * Returns values in the order of `ids`, until the message is full. `answered` is the number of ids covered, including
 * unknown ones.
 */
export function fitIntoMessage<Value>(ids: string[], known: Record<string, Value>): LookupReply<Value> {
  const found: Record<string, Value> = Object.create(null);
  let bytesLeft = MAX_RESPONSE_BYTES;
  let answered = 0;
  for (const id of ids) {
    if (Object.hasOwn(known, id)) {
      const value = known[id]!;
      bytesLeft -= Buffer.byteLength(JSON.stringify(value)) + id.length + '"":,'.length;
      // Sends a value that is too large for a message on its own, so that the caller gets an error about it.
      if (bytesLeft < 0 && answered > 0) break;
      found[id] = value;
    }
    answered += 1;
  }
  return { found, answered };
}
