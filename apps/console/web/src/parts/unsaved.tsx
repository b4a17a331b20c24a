import { useCallback, useEffect, useRef } from 'react';
import { useBlocker, type BlockerFunction } from 'react-router';
import { texts } from '../texts';
import { Dialog } from './dialog';

const t = texts.unsaved;

/**
 * Asks before a screen with unsaved changes is left, by a link, by Back or by closing the window. Set `current` of `ref`
 * to true once something was changed, and to false once it was saved.
 */
export function useUnsavedGuard() {
  const ref = useRef(false);
  const blocker = useBlocker(
    useCallback<BlockerFunction>(
      // Switching between the tabs within a screen changes only the query string and loses nothing.
      ({ currentLocation, nextLocation }) =>
        ref.current && currentLocation.pathname !== nextLocation.pathname,
      [],
    ),
  );
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (ref.current) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  const stay = () => blocker.reset?.();
  const dialog = (
    <Dialog title={t.title} isOpen={blocker.state === 'blocked'} onClose={stay} isAlert>
      <p>{t.text}</p>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={stay}>
          {texts.keepIt}
        </button>
        <button type="button" className="button danger" onClick={() => blocker.proceed?.()}>
          {t.leave}
        </button>
      </div>
    </Dialog>
  );
  return { ref, dialog };
}
