import { useSearchParams } from 'react-router';

/** Keeps filters in the URL, so that a screen can be shared and bookmarked. Setting an empty value removes a filter. */
export function useSearchFilters() {
  const [params, setParams] = useSearchParams();
  return {
    valueOf: (name: string): string => params.get(name) ?? '',
    set: (name: string, value: string) => {
      // Not from `params`, which lack a filter that was set since the last rendering.
      const next = new URLSearchParams(location.search);
      if (value) next.set(name, value);
      else next.delete(name);
      setParams(next, { replace: true });
    },
  };
}
