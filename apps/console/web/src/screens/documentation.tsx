import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { NavLink, useLocation, useParams } from 'react-router';
import { useSession } from '../api/session';
import { TextField } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { Markdown } from '../parts/markdown';
import { Card, Screen } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { texts } from '../texts';
import { DocumentationSearch } from './documentation-search';
import NotFound from './not-found';
import '../styles/documentation.css';

const t = texts.documentation;

/** The pages of docs/ for a client's engineers, and for operators. */
const PAGES: Record<keyof typeof t.names, () => Promise<{ default: string }>> = {
  quickstart: () => import('@docs/quickstart.md?raw'),
  webhooks: () => import('@docs/webhooks.md?raw'),
  'api-keys': () => import('@docs/api-keys.md?raw'),
  'link-jobs': () => import('@docs/link-jobs.md?raw'),
  'erase-a-person': () => import('@docs/erase-a-person.md?raw'),
  statements: () => import('@docs/statements.md?raw'),
  'perk-collections': () => import('@docs/perk-collections.md?raw'),
  boost: () => import('@docs/boost.md?raw'),
  'gift-cards': () => import('@docs/gift-cards.md?raw'),
  analytics: () => import('@docs/analytics.md?raw'),
  figures: () => import('@docs/figures.md?raw'),
  events: () => import('@docs/events.md?raw'),
  'http-contract': () => import('@docs/http-contract.md?raw'),
  limits: () => import('@docs/limits.md?raw'),
  glossary: () => import('@docs/glossary.md?raw'),
  client: () => import('@client/README.md?raw'),
  operations: () => import('@docs/operations.md?raw'),
  catalogue: () => import('@docs/catalogue.md?raw'),
};
export type PageName = keyof typeof PAGES;
type GroupName = keyof typeof t.groups;
const GROUPS: Record<GroupName, PageName[]> = {
  start: ['quickstart', 'client'],
  guides: ['webhooks', 'api-keys', 'statements', 'link-jobs', 'erase-a-person'],
  reference: [
    'perk-collections',
    'boost',
    'gift-cards',
    'analytics',
    'figures',
    'events',
    'http-contract',
    'limits',
    'glossary',
  ],
  operators: ['operations', 'catalogue'],
};

const FILE = /^(?:.*\/)?(?:(client)\/README|([\w-]+))\.md(#.*)?$/;

/** Returns the URL of the screen of a linked page, or null if this person's Documentation does not show that page. */
function linkTo(href: string, pages: PageName[]): string | null {
  if (/^(?:https:|#)/.test(href)) return href;
  const [, client, name = client, hash = ''] = FILE.exec(href) ?? [];
  return pages.includes(name as PageName) ? `/documentation/${name}${hash}` : null;
}

export default function Documentation() {
  const { page = 'quickstart' } = useParams();
  const { valueOf, set } = useSearchFilters();
  const q = valueOf('q');
  const { hosts, role } = useSession();
  const groups = (Object.entries(GROUPS) as [GroupName, PageName[]][]).filter(
    ([group]) => group !== 'operators' || role === 'ADMIN',
  );
  const pages = groups.flatMap(([, names]) => names);
  const isShown = (name: string): name is PageName => pages.includes(name as PageName);
  /** Returns the Markdown of a page, with the addresses of the hosts. */
  const read = async (name: PageName) =>
    (await PAGES[name]()).default.replaceAll(
      /https:\/\/(\w+)\.perkway\.example/g,
      (address, host: keyof typeof hosts) => hosts[host] ?? address,
    );
  if (!isShown(page)) return <NotFound />;
  return (
    <Screen title={texts.nav.documentation} intro={t.intro} zone={null}>
      <div className={q.trim() ? 'documentation searching' : 'documentation'}>
        <nav aria-label={t.pages}>
          <TextField
            label={t.search}
            type="search"
            maxLength={100}
            value={q}
            onValue={(value) => set('q', value)}
          />
          {groups.map(([group, names]) => (
            <section key={group}>
              <h2>{t.groups[group]}</h2>
              <ul>
                {names.map((name) => (
                  <li key={name}>
                    <NavLink to={`/documentation/${name}`} aria-current={name === page ? 'page' : undefined}>
                      {t.names[name]}
                    </NavLink>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </nav>
        {q.trim() ? (
          <DocumentationSearch q={q.trim()} pages={pages} read={read} />
        ) : (
          <Page name={page} key={page} pages={pages} read={read} />
        )}
      </div>
    </Screen>
  );
}

interface PageProps {
  name: PageName;
  /** The pages that links may lead to. */
  pages: PageName[];
  read: (name: PageName) => Promise<string>;
}

function Page({ name, pages, read }: PageProps) {
  const { hash } = useLocation();
  const source = useQuery({
    queryKey: ['documentation', name],
    queryFn: () => read(name),
    staleTime: Infinity,
  });
  const isLoaded = source.isSuccess;
  useEffect(() => {
    const heading = isLoaded && hash && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!heading) return;
    heading.scrollIntoView();
    heading.focus({ preventScroll: true });
  }, [isLoaded, hash]);
  return (
    <Card className="document">
      <Loaded query={source} lines={12}>
        {(text) => <Markdown source={text} linkTo={(href) => linkTo(href, pages)} />}
      </Loaded>
    </Card>
  );
}
