import { useState } from 'react';

/** Runs an action unless it is already running, and keeps its error until the next run. */
export function useAction<A extends unknown[]>(action: (...given: A) => unknown) {
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  return {
    error,
    isBusy,
    clear: () => setError(null),
    run: async (...given: A) => {
      if (isBusy) return;
      setBusy(true);
      setError(null);
      try {
        await action(...given);
      } catch (refusal) {
        setError(refusal as Error);
      } finally {
        setBusy(false);
      }
    },
  };
}
