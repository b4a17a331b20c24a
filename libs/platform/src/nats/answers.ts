import {
  applyDecorators,
  UseInterceptors,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { MAX_ANSWER_BYTES, type LookupAnswer, type LookupRequest, type Question } from '@perkway/domain';
import { map } from 'rxjs';

/**
 * Marks the method that answers a question: it takes the request and gives the reply, whatever size it has. Needs
 * `answersRequests` of the app.
 */
export const Answers =
  <Request extends object, Reply extends object>(question: Question<Request, Reply>) =>
  <Method extends (request: Request) => Reply | Promise<Reply>>(
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void =>
    applyDecorators(
      MessagePattern(question.subject),
      ...(question.atOnce === undefined ? [] : [UseInterceptors(answerLookup)]),
    )(target, key, descriptor);

const answerLookup: NestInterceptor<Record<string, unknown>, LookupAnswer<unknown>> = {
  intercept: (context: ExecutionContext, next) => {
    const { ids } = context.switchToRpc().getData<LookupRequest>();
    return next.handle().pipe(map((known) => fitIntoMessage(ids, known)));
  },
};

/** What is known of as many of the ids, in their order, as one message has room for. */
export function fitIntoMessage<Value>(ids: string[], known: Record<string, Value>): LookupAnswer<Value> {
  const found: Record<string, Value> = Object.create(null);
  let room = MAX_ANSWER_BYTES;
  let answered = 0;
  for (const id of ids) {
    if (Object.hasOwn(known, id)) {
      const value = known[id]!;
      room -= Buffer.byteLength(JSON.stringify(value)) + id.length + '"":,'.length;
      // One that does not even fit alone is sent, so that its failure says so.
      if (room < 0 && answered > 0) break;
      found[id] = value;
    }
    answered += 1;
  }
  return { found, answered };
}
