import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from 'react';

type Tone = 'good' | 'bad';
interface Notices {
  say: (text: string, tone?: Tone) => void;
}
const NoticeContext = createContext<Notices>({ say: () => undefined });
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
  const value = useMemo(() => ({ say }), [say]);
  return (
    <NoticeContext value={value}>
      {children}
      <div role="status" className="notices">
        {notice && <p className={`notice notice-${notice.tone}`}>{notice.text}</p>}
      </div>
    </NoticeContext>
  );
}
