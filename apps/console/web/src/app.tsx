import { Navigate, Route, Routes, useLocation } from 'react-router';
import { SessionProvider, useSessionQuery } from './api/session';
import { lazy } from './parts/lazy';
import { Failed } from './parts/loaded';
import { Shell } from './shell';
import { SignIn } from './screens/sign-in';
import { texts } from './texts';

const loadOverview = () => import('./screens/overview');
// Loads beside the session and while a key is typed, because it is the first screen.
if (['/', '/sign-in'].includes(location.pathname)) void loadOverview();
const Overview = lazy(loadOverview);
const Campaigns = lazy(() => import('./screens/campaigns'));
const Campaign = lazy(() => import('./screens/campaign'));
const Perks = lazy(() => import('./screens/perks'));
const GiftCards = lazy(() => import('./screens/gift-cards'));
const LinkJob = lazy(() => import('./screens/link-job'));
const RewardLinks = lazy(() => import('./screens/reward-links'));
const Statements = lazy(() => import('./screens/statements'));
const Limits = lazy(() => import('./screens/limits'));
const LimitEditor = lazy(() => import('./screens/limit-editor'));
const Explore = lazy(() => import('./screens/explore'));
const Integration = lazy(() => import('./screens/integration'));
const Webhook = lazy(() => import('./screens/webhook'));
const Documentation = lazy(() => import('./screens/documentation'));
const Reports = lazy(() => import('./screens/reports'));
const Report = lazy(() => import('./screens/report'));
const OperatorsHome = lazy(() => import('./screens/operators-home'));
const Accounts = lazy(() => import('./screens/accounts'));
const Account = lazy(() => import('./screens/account'));
const Erasures = lazy(() => import('./screens/erasures'));
const Catalogue = lazy(() => import('./screens/catalogue'));
const CampaignEditor = lazy(() => import('./screens/campaign-editor'));
const Pools = lazy(() => import('./screens/pools'));
const Pool = lazy(() => import('./screens/pool'));
const Health = lazy(() => import('./screens/health'));
const AuditLog = lazy(() => import('./screens/audit-log'));
const NotFound = lazy(() => import('./screens/not-found'));

export function App() {
  return (
    <Routes>
      <Route path="/report" element={<Report />} />
      <Route path="*" element={<Console />} />
    </Routes>
  );
}

function Console() {
  const session = useSessionQuery();
  const { pathname, search } = useLocation();
  if (session.isPending)
    return (
      <div className="starting">
        <span className="wordmark">{texts.product}</span>
        <p>{texts.starting}</p>
      </div>
    );
  if (session.isError)
    return (
      <main className="starting">
        <h1 className="wordmark">{texts.product}</h1>
        <Failed error={session.error} retry={() => void session.refetch()} />
      </main>
    );
  if (pathname === '/sign-in') return <SignIn session={session.data} />;
  if (!session.data) {
    const asked = pathname + search;
    const next = asked === '/' ? '' : `?next=${encodeURIComponent(asked)}`;
    return <Navigate to={`/sign-in${next}`} replace />;
  }
  const isOperator = session.data.role === 'ADMIN';
  return (
    // Remount for another account, so that no state of the previous one remains.
    <SessionProvider session={session.data} key={session.data.accountId}>
      <Shell>
        <Routes>
          <Route index element={<Overview />} />
          <Route path="campaigns" element={<Campaigns />} />
          <Route path="campaigns/:campaignId/:tab?" element={<Campaign />} />
          <Route path="perks" element={<Perks />} />
          <Route path="gift-cards" element={<GiftCards />} />
          <Route path="gift-cards/jobs/:jobId" element={<LinkJob />} />
          <Route path="reward-links" element={<RewardLinks />} />
          <Route path="statements" element={<Statements />} />
          <Route path="limits" element={<Limits />} />
          <Route path="explore" element={<Explore />} />
          <Route path="integration/:tab?" element={<Integration />} />
          <Route path="integration/webhooks/:webhookId" element={<Webhook />} />
          <Route path="documentation/:page?" element={<Documentation />} />
          <Route path="docs" element={<Navigate to="/documentation" replace />} />
          <Route path="reports" element={<Reports />} />
          <Route path="audit-log" element={<AuditLog />} />
          {isOperator && (
            <>
              <Route path="home" element={<OperatorsHome />} />
              <Route path="accounts" element={<Accounts />} />
              <Route path="accounts/:accountId" element={<Account />} />
              <Route path="accounts/:accountId/erasures" element={<Erasures />} />
              <Route path="catalogue/*" element={<Catalogue />} />
              <Route path="campaign-editor/:campaignId?" element={<CampaignEditor />} />
              <Route path="pools" element={<Pools />} />
              <Route path="pools/:poolId" element={<Pool />} />
              <Route path="limit-editor/:limitId?" element={<LimitEditor />} />
              <Route path="health" element={<Health />} />
            </>
          )}
          <Route path="*" element={<NotFound />} />
        </Routes>
      </Shell>
    </SessionProvider>
  );
}
