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
 * Marks the method that handles an RPC: it takes the request and returns the reply, of any size. Requires
 * `hasRpcHandlers` of the app.
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

/** Returns the values of as many ids, in their order, as fit into one message. */
export function fitIntoMessage<Value>(ids: string[], known: Record<string, Value>): LookupReply<Value> {
  const found: Record<string, Value> = Object.create(null);
  let room = MAX_RESPONSE_BYTES;
  let answered = 0;
  for (const id of ids) {
    if (Object.hasOwn(known, id)) {
      const value = known[id]!;
      room -= Buffer.byteLength(JSON.stringify(value)) + id.length + '"":,'.length;
      // Sends a value that is too large for a message on its own, so that the caller gets an error about it.
      if (room < 0 && answered > 0) break;
      found[id] = value;
    }
    answered += 1;
  }
  return { found, answered };
}
