import { Link, useNavigate, useParams } from 'react-router';
import { useSession } from '../api/session';
import { KEEP_FOCUS } from '../keep-focus';
import { CopyButton } from '../parts/copy-button';
import { Keys } from '../parts/keys';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { Tabs } from '../parts/tabs';
import { texts } from '../texts';
import { Events } from './events';
import { Webhooks } from './webhooks';

const t = texts.integration;
/** Hosts without an API reference at `/docs`. */
const WITHOUT_REFERENCE = ['rewards', 'console'];
const TABS = ['api', 'hosts', 'webhooks', 'events'];

export default function Integration() {
  const { tab = 'api' } = useParams();
  const navigate = useNavigate();
  const { keyId } = useSession();
  return (
    <Screen title={texts.nav.integration} intro={t.intro}>
      <Tabs
        label={texts.nav.integration}
        selected={TABS.includes(tab) ? tab : 'api'}
        onSelect={(id) =>
          void navigate(id === 'api' ? '/integration' : `/integration/${id}`, { state: KEEP_FOCUS })
        }
        tabs={[
          {
            id: 'api',
            label: t.api,
            content: () => (
              <>
                <Keys path="/api/keys" roles={['USER', 'JOURNEY']} ownKeyId={keyId} />
                <FirstRequest />
              </>
            ),
          },
          { id: 'hosts', label: t.hosts, content: () => <Hosts /> },
          { id: 'webhooks', label: texts.webhooks.webhooks, content: () => <Webhooks /> },
          { id: 'events', label: texts.events.events, content: () => <Events /> },
        ]}
      />
    </Screen>
  );
}

const CLICKS_BY_DAY =
  '{"measures":["perk_clicks.count"],"timeDimensions":[{"dimension":"perk_clicks.occurred_at","granularity":"day","dateRange":"from 6 days ago to now"}]}';

const collectionsCall = (host: string | undefined) => `curl -H "X-API-Key: $KEY" ${host}/perk-collections`;

function FirstRequest() {
  const { hosts } = useSession();
  const line = collectionsCall(hosts.perks);
  return (
    <Card
      title={t.firstRequest}
      note={
        <>
          {t.firstRequestNote} <Link to="/integration/hosts">{t.allHosts}</Link>.{' '}
          <Link to="/documentation">{t.quickstart}</Link>.
        </>
      }
      actions={<CopyButton text={line} of={t.firstRequest} />}
    >
      <pre className="code-block">
        <code>{line}</code>
      </pre>
    </Card>
  );
}

function Hosts() {
  const { hosts } = useSession();
  const lines = [
    { name: t.curl.perks, line: collectionsCall(hosts.perks) },
    { name: t.curl.boost, line: `curl -H "X-API-Key: $KEY" ${hosts.boost}/campaigns` },
    { name: t.curl.gift, line: `curl -H "X-API-Key: $KEY" ${hosts.gift}/pools` },
    { name: t.curl.events, line: `curl -H "X-API-Key: $KEY" ${hosts.events}/events` },
    {
      name: t.curl.query,
      line: [
        `TOKEN=$(curl -s -H "X-API-Key: $KEY" ${hosts.token}/cube/token | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
        `curl -G -H "Authorization: $TOKEN" ${hosts.query}/cubejs-api/v1/load --data-urlencode 'query=${CLICKS_BY_DAY}'`,
      ].join('\n'),
    },
  ];
  return (
    <div className="stack">
      <Card title={t.hosts}>
        <Table
          caption={t.hosts}
          rows={Object.entries(hosts)}
          keyOf={([name]) => name}
          columns={[
            { name: t.host, isHead: true, cell: ([name]) => t.hostNames[name] ?? name },
            {
              name: t.address,
              cell: ([, address]) => (
                <a href={address} rel="noreferrer" target="_blank">
                  <code>{address}</code>
                </a>
              ),
            },
            {
              name: t.reference,
              cell: ([name, address]) =>
                WITHOUT_REFERENCE.includes(name) ? (
                  '–'
                ) : (
                  <a href={`${address}/docs`} rel="noreferrer" target="_blank">
                    {t.reference}
                    <span className="sr"> {t.hostNames[name] ?? name}</span>
                  </a>
                ),
            },
            {
              name: t.document,
              cell: ([name, address]) => (
                <a href={`${address}/docs-json`} rel="noreferrer" target="_blank">
                  {t.document}
                  <span className="sr"> {t.hostNames[name] ?? name}</span>
                </a>
              ),
            },
            {
              name: t.errorCodes,
              cell: ([name, address]) => (
                <a href={`${address}/errors`} rel="noreferrer" target="_blank">
                  {t.errorCodes}
                  <span className="sr"> {t.hostNames[name] ?? name}</span>
                </a>
              ),
            },
          ]}
        />
      </Card>
      <Card title={t.try} note={t.tryText}>
        <div className="stack">
          {lines.map(({ name, line }) => (
            <div key={name} className="stack">
              <div className="code-head">
                <h3>{name}</h3>
                <CopyButton text={line} of={name} />
              </div>
              <pre className="code-block">
                <code>{line}</code>
              </pre>
            </div>
          ))}
        </div>
      </Card>
    </div>
  );
}
