import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router';

const USER_INPUT = ['wheel', 'touchmove', 'pointerdown', 'keydown'];

/**
 * Scrolls to the element that the hash of the URL names, and again whenever the page changes its height, because what is
 * above the element may load later. Ends with the user's first input.
 *
 * @param isLoaded whether the element exists
 */
export function useScrollToHash(isLoaded: boolean, block: ScrollLogicalPosition = 'start'): void {
  const { hash } = useLocation();
  const endedFor = useRef('');
  useEffect(() => {
    if (!isLoaded || !hash || endedFor.current === hash) return;
    const listeners = new AbortController();
    // Its first call comes at once.
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
