import { useHealth } from '../api/health';
import { formatNumber } from '../format';
import { useAlwaysLive } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Refreshed } from '../parts/refreshed';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { Alarms } from './alarms';

const t = texts.health;
const numberOrUnknown = (value: number | null) => (value === null ? t.unknown : formatNumber(value));
/** @param none stands for 0 seconds */
const ageOf = (seconds: number | null, none: string = t.empty) =>
  seconds === null ? t.unknown : seconds === 0 ? none : t.age(seconds);
const TONE = { up: '', degraded: 'warn', down: 'bad' };

const Responds = ({ isUp }: { isUp: boolean }) => (
  <span className={`badge ${isUp ? '' : 'bad'}`}>{isUp ? t.responds : t.noResponse}</span>
);

export default function Health() {
  useAlwaysLive();
  const health = useHealth();
  return (
    <Screen title={texts.nav.health} intro={t.intro} actions={<Refreshed queries={[health]} />}>
      <Loaded query={health} lines={8}>
        {(state) => {
          const { apps, findings, broker, outbox, dead_letters, consumers, webhooks } = state;
          return (
            <>
              <Alarms of={findings} none={t.good(apps.length)} />
              <Card title={t.apps} note={t.appsNote}>
                <Table
                  caption={t.apps}
                  rows={apps}
                  keyOf={({ name }) => name}
                  columns={[
                    { name: t.app, isHead: true, cell: ({ name }) => name },
                    {
                      name: t.state,
                      cell: ({ state }) => <span className={`badge ${TONE[state]}`}>{t.states[state]}</span>,
                    },
                    {
                      name: t.latency,
                      isNumber: true,
                      cell: ({ latency_ms }) => (latency_ms === null ? texts.none : t.ms(latency_ms)),
                    },
                    {
                      name: t.database,
                      cell: ({ database }) => (database === null ? texts.none : <Responds isUp={database} />),
                    },
                    { name: t.effect, cell: ({ name }) => t.effects[name] ?? texts.none },
                  ]}
                />
              </Card>
              <div className="columns">
                <Card title={t.outbox} note={t.outboxNote}>
                  <Table
                    caption={t.outbox}
                    rows={outbox}
                    keyOf={({ app }) => app}
                    columns={[
                      { name: t.app, isHead: true, cell: ({ app }) => app },
                      { name: t.waiting, isNumber: true, cell: ({ waiting }) => numberOrUnknown(waiting) },
                      { name: t.rows, isNumber: true, cell: ({ buffered }) => formatNumber(buffered) },
                      {
                        name: t.oldest,
                        isNumber: true,
                        cell: ({ oldest_seconds }) => ageOf(oldest_seconds),
                      },
                    ]}
                  />
                </Card>
                <Card title={t.broker}>
                  <dl className="facts">
                    <div>
                      <dt>{t.state}</dt>
                      <dd>
                        <Responds isUp={broker.available} />
                      </dd>
                    </div>
                    <div>
                      <dt>{t.latency}</dt>
                      <dd>{broker.latency_ms === null ? texts.none : t.ms(broker.latency_ms)}</dd>
                    </div>
                    <div>
                      <dt>{t.deadLetters}</dt>
                      <dd>{numberOrUnknown(dead_letters)}</dd>
                    </div>
                    <div>
                      <dt>{t.deliveries}</dt>
                      <dd>{webhooks === null ? t.unknown : formatNumber(webhooks.pending)}</dd>
                    </div>
                    <div>
                      <dt>{t.overdue}</dt>
                      <dd>{ageOf(webhooks?.overdue_seconds ?? null)}</dd>
                    </div>
                    <div>
                      <dt>{t.erasing}</dt>
                      <dd>{ageOf(state.erasures_oldest_seconds)}</dd>
                    </div>
                  </dl>
                </Card>
              </div>
              <Card title={t.consumers} note={t.consumersNote}>
                <Table
                  caption={t.consumers}
                  rows={consumers}
                  keyOf={({ stream, name }) => `${stream}/${name}`}
                  columns={[
                    { name: t.app, isHead: true, cell: ({ app }) => app },
                    { name: t.consumer, cell: ({ stream, name }) => <code>{`${stream}/${name}`}</code> },
                    { name: t.pending, isNumber: true, cell: ({ pending }) => numberOrUnknown(pending) },
                    {
                      name: t.unacknowledged,
                      isNumber: true,
                      cell: ({ ack_pending }) => numberOrUnknown(ack_pending),
                    },
                    {
                      name: t.oldest,
                      isNumber: true,
                      cell: ({ pending, ack_pending, oldest_seconds }) =>
                        pending === 0 && ack_pending === 0 ? t.empty : ageOf(oldest_seconds, t.age(0)),
                    },
                  ]}
                />
              </Card>
            </>
          );
        }}
      </Loaded>
    </Screen>
  );
}
