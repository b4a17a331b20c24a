/**
 * Closes the parts in order and continues after a failure: anything left open would keep the test run from exiting.
 *
 * @throws the first failure, after everything is closed
 */
export async function closeAll(
  ...open: readonly ({ close(): Promise<unknown> } | undefined)[]
): Promise<void> {
  const failures: unknown[] = [];
  for (const each of open) await each?.close().catch((failure: unknown) => failures.push(failure));
  if (failures.length > 0) throw failures[0];
}
