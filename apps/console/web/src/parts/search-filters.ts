import { useSearchParams } from 'react-router';

/** Keeps filters in the URL, so that a screen can be shared and bookmarked. Setting an empty value removes a filter. */
export function useSearchFilters() {
  const [params, setParams] = useSearchParams();
  return {
    valueOf: (name: string): string => params.get(name) ?? '',
    set: (name: string, value: string) =>
      setParams(
        (before) => {
          if (value) before.set(name, value);
          else before.delete(name);
          return before;
        },
        { replace: true },
      ),
  };
}
