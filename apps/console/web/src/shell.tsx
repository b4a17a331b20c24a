import { useEffect, useRef, useState, type ComponentType, type ReactNode } from 'react';
import { NavLink, useLocation, useNavigate } from 'react-router';
import { usePendingApprovals } from './api/link-jobs';
import { useSession, useSigning } from './api/session';
import { Icon, type IconName } from './parts/icon';
import { keepsFocus } from './keep-focus';
import { lazy } from './parts/lazy';
import { LiveSwitch } from './parts/live';
import { useNotices } from './parts/notices';
import { texts } from './texts';

const Search = lazy(() => import('./screens/search'), null);

interface Entry {
  to: string;
  label: string;
  icon: IconName;
  /** Shows how many items of the screen need a decision of the user. */
  Badge?: ComponentType;
}
const { nav } = texts;

function PendingApprovals() {
  const { data: count = 0 } = usePendingApprovals();
  return count > 0 && <span className="badge warn">{texts.toApprove(count)}</span>;
}

const OWN: Entry[] = [
  { to: '/', label: nav.overview, icon: 'home' },
  { to: '/campaigns', label: nav.campaigns, icon: 'megaphone' },
  { to: '/perks', label: nav.perks, icon: 'tag' },
  { to: '/gift-cards', label: nav.giftCards, icon: 'gift', Badge: PendingApprovals },
  { to: '/reward-links', label: nav.rewardLinks, icon: 'link' },
  { to: '/statements', label: nav.statements, icon: 'book' },
  { to: '/limits', label: nav.limits, icon: 'gauge' },
  { to: '/explore', label: nav.explore, icon: 'chart' },
  { to: '/reports', label: nav.reports, icon: 'page' },
];
/** Shown to operators, too. They see the figures of an account through View as client. */
const SHARED: Entry[] = [
  { to: '/integration', label: nav.integration, icon: 'plug' },
  { to: '/documentation', label: nav.documentation, icon: 'help' },
];
/** Shows operators the entries of all accounts. */
const AUDIT_LOG: Entry = { to: '/audit-log', label: nav.auditLog, icon: 'list' };
const OPERATOR: Entry[] = [
  { to: '/home', label: nav.operatorsHome, icon: 'home' },
  { to: '/accounts', label: nav.accounts, icon: 'people' },
  { to: '/catalogue', label: nav.catalogue, icon: 'grid' },
  { to: '/campaign-editor', label: nav.campaignEditor, icon: 'pen' },
  { to: '/pools', label: nav.pools, icon: 'stack' },
  { to: '/limit-editor', label: nav.limitEditor, icon: 'gauge' },
  { to: '/health', label: nav.health, icon: 'pulse' },
  AUDIT_LOG,
];

const Entries = ({ entries }: { entries: Entry[] }) => (
  <ul>
    {entries.map(({ to, label, icon, Badge }) => (
      <li key={to}>
        <NavLink to={to} end={to === '/'}>
          <Icon name={icon} />
          {label}
          {Badge && <Badge />}
        </NavLink>
      </li>
    ))}
  </ul>
);

/** Opens the search with its button or with Ctrl+K. */
function Finder() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      // A dialog keeps what was typed in it.
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || document.querySelector('.overlay'))
        return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <button
        type="button"
        className="quiet-button finder"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <Icon name="search" />
        <span className="finder-label">{texts.find.open}</span>
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      {isOpen && <Search onClose={() => setOpen(false)} />}
    </>
  );
}

export function Shell({ children }: { children: ReactNode }) {
  const session = useSession();
  const { signOut, endView } = useSigning();
  const navigate = useNavigate();
  const { pathname, hash, state } = useLocation();
  const { say } = useNotices();
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);

  // On a new screen, close the menu and move the focus to its top, so that screen readers start there.
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    if (keepsFocus(state)) return;
    setOpen(false);
    // With a hash, the screen itself scrolls to what it names.
    if (!hash) window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [pathname, hash, state]);

  const leave = async () => {
    try {
      await signOut();
      await navigate('/sign-in');
    } catch (error) {
      say((error as Error).message, 'bad');
    }
  };

  const stopViewing = async () => {
    const account = session.accountId;
    try {
      await endView();
      await navigate(`/accounts/${encodeURIComponent(account)}`);
    } catch (error) {
      say((error as Error).message, 'bad');
    }
  };

  return (
    <div className={isOpen ? 'shell shell-open' : 'shell'}>
      <a className="skip" href="#main" onClick={() => main.current?.focus()}>
        {texts.skip}
      </a>
      <header className="topbar">
        <button
          type="button"
          className="menu-button"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
          <span className="sr">{texts.menu}</span>
        </button>
        <NavLink to={session.role === 'ADMIN' ? '/home' : '/'} className="wordmark">
          {texts.product}
        </NavLink>
        <span className="topbar-account">
          <span>{session.accountName}</span>
          {session.person && <span className="hint topbar-person">{session.person}</span>}
          {session.role === 'ADMIN' && <span className="badge">{texts.operator}</span>}
        </span>
        {session.role === 'ADMIN' && <Finder />}
        <LiveSwitch />
        <button type="button" className="quiet-button" onClick={() => void leave()}>
          {texts.signOut}
        </button>
      </header>
      <nav id="menu" className="menu" aria-label={texts.mainMenu}>
        {session.role === 'ADMIN' ? (
          <>
            <h2 className="menu-title">{texts.allAccounts}</h2>
            <Entries entries={OPERATOR} />
            <h2 className="menu-title">{texts.ownAccount(session.accountName)}</h2>
            <Entries entries={SHARED} />
          </>
        ) : (
          <Entries entries={[...OWN, ...SHARED, AUDIT_LOG]} />
        )}
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        {session.viewedBy !== null && (
          <div className="callout viewing" role="status">
            <p>{texts.viewing.text(session.accountName)}</p>
            <button type="button" className="button" onClick={() => void stopViewing()}>
              {texts.viewing.stop}
            </button>
          </div>
        )}
        {children}
      </main>
    </div>
  );
}
