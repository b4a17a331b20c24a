import { useState } from 'react';

/** Runs an action, not twice at once, and keeps the error that it throws until it runs again. */
export function useAction(action: () => unknown) {
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  return {
    error,
    isBusy,
    clear: () => setError(null),
    run: async () => {
      if (isBusy) return;
      setBusy(true);
      setError(null);
      try {
        await action();
      } catch (refusal) {
        setError(refusal as Error);
      } finally {
        setBusy(false);
      }
    },
  };
}
