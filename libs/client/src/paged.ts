interface Page {
  data: unknown[];
  next_cursor: string | null;
}

export const isPage = (answer: unknown): answer is Page =>
  typeof answer === 'object' && answer !== null && 'next_cursor' in answer && 'data' in answer;

/** Asks for the first page once, whether it is awaited, iterated over or both. @param ask for the page behind a cursor */
export function paged(ask: (cursor?: string) => Promise<unknown>): Promise<unknown> & AsyncIterable<unknown> {
  let first: Promise<unknown> | undefined;
  const begin = () => (first ??= ask());
  return {
    then: (onAnswer, onError) => begin().then(onAnswer, onError),
    catch: (onError) => begin().catch(onError),
    finally: (onEnd) => begin().finally(onEnd),
    [Symbol.toStringTag]: 'Promise',
    async *[Symbol.asyncIterator]() {
      let page = await begin();
      while (isPage(page)) {
        yield* page.data;
        if (page.next_cursor === null) return;
        page = await ask(page.next_cursor);
      }
    },
  };
}
