import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { Switch } from 'react-aria-components';
import { texts } from '../texts';

const LIVE_MS = 5_000;
const LiveContext = createContext({
  isLive: false,
  setLive: (() => undefined) as (on: boolean) => void,
  /** Whether the screen refreshes regardless of the switch. */
  isForced: false,
  setForced: (() => undefined) as (isForced: boolean) => void,
});

export function LiveProvider({ children }: { children: ReactNode }) {
  const [isLive, setLive] = useState(false);
  const [isForced, setForced] = useState(false);
  const value = useMemo(
    () => ({ isLive: isLive || isForced, setLive, isForced, setForced }),
    [isLive, isForced],
  );
  return <LiveContext value={value}>{children}</LiveContext>;
}

/** Keeps auto-refresh on while the screen is shown. */
export function useAlwaysLive(): void {
  const { setForced } = useContext(LiveContext);
  useEffect(() => {
    setForced(true);
    return () => setForced(false);
  }, [setForced]);
}

/** Refreshes figures every five seconds while auto-refresh is on and the window is visible. */
export function useLiveInterval(): { refetchInterval: number | false; staleTime?: number } {
  return useLive() ? { refetchInterval: LIVE_MS, staleTime: 0 } : { refetchInterval: false };
}

export const useLive = (): boolean => useContext(LiveContext).isLive;

export function LiveSwitch() {
  const { isLive, setLive, isForced } = useContext(LiveContext);
  return (
    <Switch
      className="switch live-switch"
      aria-label={texts.liveName}
      isSelected={isLive}
      isDisabled={isForced}
      onChange={setLive}
    >
      <span className="switch-track" />
      <span>
        {texts.liveName} <span className="live-state">{texts.live(isLive)}</span>
      </span>
    </Switch>
  );
}
