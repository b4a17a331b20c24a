/**
 * Closes one after the other, also behind one that fails: what stayed open would keep the test run from its end.
 *
 * @throws the first failure, when all are closed
 */
export async function closeAll(
  ...open: readonly ({ close(): Promise<unknown> } | undefined)[]
): Promise<void> {
  const failures: unknown[] = [];
  for (const each of open) await each?.close().catch((failure: unknown) => failures.push(failure));
  if (failures.length > 0) throw failures[0];
}
