import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router';

const USER_INPUT = ['wheel', 'touchmove', 'pointerdown', 'keydown'];

/**
 * Scrolls the element named by the URL's hash into view. Does so again whenever the height of the page changes, because
 * content above the element may still be loading. Stops at the user's first input.
 *
 * @param isLoaded whether the element exists
 */
export function useScrollToHash(isLoaded: boolean, block: ScrollLogicalPosition = 'start'): void {
  const { hash } = useLocation();
  const endedFor = useRef('');
  useEffect(() => {
    if (!isLoaded || !hash || endedFor.current === hash) return;
    const listeners = new AbortController();
    // A new observer calls back once at the start.
    const resizes = new ResizeObserver(() =>
      document.getElementById(hash.slice(1))?.scrollIntoView({ block }),
    );
    resizes.observe(document.body);
    const end = () => {
      resizes.disconnect();
      listeners.abort();
    };
    const endForUser = () => {
      endedFor.current = hash;
      end();
    };
    for (const input of USER_INPUT) addEventListener(input, endForUser, { signal: listeners.signal });
    return end;
  }, [isLoaded, hash, block]);
}
