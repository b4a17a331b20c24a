import { useCallback, useEffect, useRef } from 'react';
import { useBlocker, type BlockerFunction } from 'react-router';
import { texts } from '../texts';
import { Dialog } from './dialog';

const t = texts.unsaved;

/**
 * Asks before a screen with unsaved changes is left, by a link, by Back or by closing the window. Set `isDirty.current`
 * to true after a change and to false after saving.
 */
export function useUnsavedGuard() {
  const isDirty = useRef(false);
  const blocker = useBlocker(
    useCallback<BlockerFunction>(
      // Switching between the tabs within a screen changes only the query string and loses nothing.
      ({ currentLocation, nextLocation }) =>
        isDirty.current && currentLocation.pathname !== nextLocation.pathname,
      [],
    ),
  );
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (isDirty.current) event.preventDefault();
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
  return { isDirty, dialog };
}
