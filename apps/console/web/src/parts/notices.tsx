import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from 'react';

type Tone = 'good' | 'bad';
interface Notices {
  say: (text: string, tone?: Tone) => void;
  /** Waits for an action, and shows the error that it throws. */
  attempt: (action: Promise<unknown>) => Promise<void>;
}
const NoticeContext = createContext<Notices>({ say: () => undefined, attempt: async () => undefined });
export const useNotices = () => useContext(NoticeContext);

const SHOWN_MS = 8_000;

/** Shows the result of an action in one line at the bottom, also for screen readers. */
export function NoticeProvider({ children }: { children: ReactNode }) {
  const [notice, setNotice] = useState<{ text: string; tone: Tone } | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const say = useCallback((text: string, tone: Tone = 'good') => {
    clearTimeout(timer.current);
    setNotice({ text, tone });
    timer.current = setTimeout(() => setNotice(null), SHOWN_MS);
  }, []);
  const value = useMemo(
    () => ({
      say,
      attempt: (action: Promise<unknown>) =>
        action.then(
          () => undefined,
          (error: Error) => say(error.message, 'bad'),
        ),
    }),
    [say],
  );
  return (
    <NoticeContext value={value}>
      {children}
      <div role="status" className="notices">
        {notice && <p className={`notice notice-${notice.tone}`}>{notice.text}</p>}
      </div>
    </NoticeContext>
  );
}
