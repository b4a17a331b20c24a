import { useEffect, useRef } from 'react';
import { useLocation } from 'react-router';

/** Scrolls once to the element that the hash of the URL names. @param isLoaded whether the element is in its place */
export function useScrollToHash(isLoaded: boolean, block: ScrollLogicalPosition = 'start'): void {
  const { hash } = useLocation();
  const scrolledTo = useRef('');
  useEffect(() => {
    if (!isLoaded || scrolledTo.current === hash) return;
    scrolledTo.current = hash;
    document.getElementById(hash.slice(1))?.scrollIntoView({ block });
  }, [isLoaded, hash, block]);
}
