import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { perkway, responseOf } from '../api/perkway';
import type { Delivery, DeliveryState, Replay, Webhook } from '../api/types';
import { retryDelivery, WEBHOOKS_KEY } from '../api/webhooks';
import { localMinute } from '../dates';
import { formatExactMoment, formatMoment, formatNumber } from '../format';
import { DialogForm } from '../parts/dialog';
import { SelectField, TextField } from '../parts/fields';
import { useLiveInterval } from '../parts/live';
import { Empty } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Pages } from '../parts/pages';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { EventDialog } from './event-dialog';

const t = texts.deliveries;
/** The type of pings, which are not in the feed. */
const PING = 'webhook.ping';
const WATCH_MS = 1_000;
/** The list refreshes while a delivery is due within this time. A running attempt counts as due in 30 seconds. */
const SOON_MS = 35_000;
const TONES = { pending: 'warn', delivered: '', failed: 'bad' } as const;

const isSoon = ({ next_attempt_at }: Delivery) =>
  next_attempt_at !== null && Date.parse(next_attempt_at) < Date.now() + SOON_MS;
/** Names a delivery for screen readers. */
const nameOf = ({ type, event_id }: Delivery) => `${type} ${event_id}`;

export function Deliveries({ webhook: { id, enabled } }: { webhook: Webhook }) {
  const client = useQueryClient();
  const { say, attempt } = useNotices();
  const [state, setState] = useState<DeliveryState | ''>('');
  const [isReplaying, setReplaying] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  const live = useLiveInterval();
  const deliveries = useInfiniteQuery({
    queryKey: [...WEBHOOKS_KEY, 'deliveries', id, state],
    initialPageParam: '',
    queryFn: ({ pageParam: cursor, signal }) =>
      responseOf(
        perkway.events.listWebhookDeliveries(
          { webhookId: id, limit: 25, ...(state && { state }), ...(cursor && { cursor }) },
          { signal },
        ),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (before) => before,
    ...live,
    refetchInterval: (query) =>
      query.state.data?.pages.some(({ data }) => data.some(isSoon)) ? WATCH_MS : live.refetchInterval,
  });
  const refresh = () => client.invalidateQueries({ queryKey: WEBHOOKS_KEY });
  const retry = async ({ event_id }: Delivery) => {
    await attempt(retryDelivery(id, event_id).then(() => say(t.retried)));
    await refresh();
  };

  return (
    <Card
      title={t.deliveries}
      actions={
        <button type="button" className="button" disabled={!enabled} onClick={() => setReplaying(true)}>
          {t.replay}
        </button>
      }
    >
      <div className="stack">
        <div className="form one-filter" role="search">
          <SelectField
            label={t.state}
            value={state}
            any={t.anyState}
            options={t.states}
            onValue={(value) => setState(value as typeof state)}
          />
        </div>
        <Pages
          query={deliveries}
          empty={<Empty title={state ? t.noneInState : t.emptyTitle}>{!state && <p>{t.emptyText}</p>}</Empty>}
        >
          {(rows) => (
            <Table
              caption={t.deliveries}
              rows={rows}
              keyOf={({ event_id }) => event_id}
              columns={[
                {
                  name: t.event,
                  isHead: true,
                  cell: (delivery) => (
                    <span className="event-name">
                      <code>{delivery.type}</code>
                      {delivery.type === PING ? (
                        <code className="hint">{delivery.event_id}</code>
                      ) : (
                        <button
                          type="button"
                          className="link-button hint"
                          aria-label={texts.events.jsonOf(nameOf(delivery))}
                          onClick={() => setShown(delivery.event_id)}
                        >
                          <code>{delivery.event_id}</code>
                        </button>
                      )}
                    </span>
                  ),
                },
                {
                  name: t.state,
                  cell: (delivery) => (
                    <span className={`badge ${TONES[delivery.state]}`}>
                      {delivery.state === 'pending' && delivery.attempts > 0
                        ? t.retrying
                        : t.states[delivery.state]}
                    </span>
                  ),
                },
                { name: t.attempts, isNumber: true, cell: ({ attempts }) => formatNumber(attempts) },
                { name: t.response, cell: (delivery) => <Response delivery={delivery} /> },
                { name: t.when, cell: (delivery) => <When delivery={delivery} /> },
                {
                  name: t.action,
                  cell: (delivery) =>
                    enabled && (
                      <button
                        type="button"
                        className="button small"
                        aria-label={t.actOn(actionOf(delivery), nameOf(delivery))}
                        onClick={() => void retry(delivery)}
                      >
                        {actionOf(delivery)}
                      </button>
                    ),
                },
              ]}
            />
          )}
        </Pages>
      </div>
      <EventDialog eventId={shown} onClose={() => setShown(null)} />
      {isReplaying && (
        <ReplayForm
          webhookId={id}
          onClose={() => setReplaying(false)}
          onDone={({ events }) => {
            setReplaying(false);
            say(events === 0 ? t.nothingToReplay : t.replayed(formatNumber(events), events === 1));
            void refresh();
          }}
        />
      )}
    </Card>
  );
}

const actionOf = ({ state }: Delivery) => (state === 'delivered' ? t.again : t.retry);

function Response({ delivery: { state, attempts, last_status, last_error } }: { delivery: Delivery }) {
  if (attempts === 0) return <span className="hint">{state === 'failed' ? t.notSent : t.none}</span>;
  return (
    <>
      {last_status === null ? t.noResponse : <code>{last_status}</code>}
      {last_error && last_error !== `Status ${last_status}` && (
        <span className="hint response-error"> {last_error}</span>
      )}
    </>
  );
}

function When({ delivery }: { delivery: Delivery }) {
  const { delivered_at, next_attempt_at } = delivery;
  if (delivered_at) return formatExactMoment(delivered_at);
  if (!next_attempt_at) return texts.none;
  return Date.parse(next_attempt_at) <= Date.now() ? t.due : t.next(formatExactMoment(next_attempt_at));
}

interface ReplayProps {
  webhookId: string;
  onClose: () => void;
  onDone: (replay: Replay) => void;
}

interface Time {
  from: string;
  to?: string;
}
const HOUR_MS = 3_600_000;
/** Extends a range to the end of the chosen minute. */
const REST_OF_MINUTE_MS = 59_999;

function ReplayForm({ webhookId, onClose, onDone }: ReplayProps) {
  const [range, setRange] = useState<keyof typeof t.ranges>('1');
  const [from, setFrom] = useState(() => localMinute(new Date(Date.now() - 24 * HOUR_MS)));
  const [to, setTo] = useState('');
  /** The time range that the user has yet to confirm. */
  const [time, setTime] = useState<Time | null>(null);

  const chosen = (): Time =>
    range === 'own'
      ? {
          from: new Date(from).toISOString(),
          ...(to && { to: new Date(Date.parse(to) + REST_OF_MINUTE_MS).toISOString() }),
        }
      : { from: new Date(Date.now() - Number(range) * HOUR_MS).toISOString() };
  const submit = async () => {
    if (!time) return setTime(chosen());
    try {
      onDone(await responseOf(perkway.events.replayWebhook({ webhookId, ...time })));
    } catch (refusal) {
      setTime(null);
      throw refusal;
    }
  };

  return (
    <DialogForm
      title={time ? t.confirmTitle : t.replayTitle}
      action={time ? t.confirmAction : t.continue}
      back={time ? { label: texts.keepIt, onBack: () => setTime(null) } : undefined}
      isReview={time !== null}
      isOpen
      onClose={onClose}
      onSubmit={submit}
    >
      {(errorOf) =>
        time ? (
          <p>{t.confirm(webhookId, formatMoment(time.from), time.to ? formatMoment(time.to) : null)}</p>
        ) : (
          <>
            <p>{t.replayText}</p>
            <SelectField
              label={t.range}
              value={range}
              // Numbers come first among the names of an object.
              options={t.ranges}
              onValue={(value) => setRange(value as keyof typeof t.ranges)}
            />
            {range === 'own' && (
              <div className="form">
                <TextField
                  label={t.from}
                  type="datetime-local"
                  required
                  value={from}
                  onValue={setFrom}
                  error={errorOf('from')}
                />
                <TextField
                  label={t.to}
                  type="datetime-local"
                  min={from}
                  hint={t.toHint}
                  value={to}
                  onValue={setTo}
                  error={errorOf('to')}
                />
              </div>
            )}
          </>
        )
      }
    </DialogForm>
  );
}
