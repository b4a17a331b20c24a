/** One response, with its body already read. */
export interface Reply {
  data: unknown;
  status: number;
  headers: Headers;
  requestId: string | undefined;
}

interface Page {
  data: unknown[];
  next_cursor: string | null;
}

/** The result of a client method: awaiting it gives the data, `withResponse()` gives the whole response. */
interface Call extends Promise<unknown> {
  withResponse(): Promise<Reply>;
}

/** Returns a call that sends its request once, when its result is first needed. */
export function lazyCall(send: () => Promise<Reply>): Call {
  let sent: Promise<Reply> | undefined;
  const withResponse = () => (sent ??= send());
  const data = () => withResponse().then((reply) => reply.data);
  return {
    then: (onData, onError) => data().then(onData, onError),
    catch: (onError) => data().catch(onError),
    finally: (onEnd) => data().finally(onEnd),
    [Symbol.toStringTag]: 'Promise',
    withResponse,
  };
}

/** Returns a call whose request is sent now, even if nobody awaits the result. */
export function call(send: () => Promise<Reply>): Call {
  const made = lazyCall(send);
  void made.withResponse();
  return made;
}

/**
 * Returns a call for a list that can be awaited, iterated over or both; the first page is requested once.
 * @param send requests the page after a cursor
 */
export function pagedCall(send: (cursor?: string) => Promise<Reply>): Call & AsyncIterable<unknown> {
  const first = lazyCall(() => send());
  return {
    ...first,
    async *[Symbol.asyncIterator]() {
      let page = await first;
      while (isPage(page)) {
        yield* page.data;
        if (page.next_cursor === null) return;
        page = (await send(page.next_cursor)).data;
      }
    },
  };
}

const isPage = (data: unknown): data is Page =>
  typeof data === 'object' && data !== null && 'next_cursor' in data && 'data' in data;
