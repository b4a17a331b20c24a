import { RESERVED_EVENT_TYPES } from '@perkway/domain/feed-events';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Link } from 'react-router';
import { readLatest, readNewer, withNewer, type Latest } from '../api/events';
import { ApiError } from '../api/http';
import type { FeedEvent } from '../api/types';
import { retryDelivery, useWebhooks } from '../api/webhooks';
import { formatExactMoment, formatMoment, formatNumber } from '../format';
import { Dialog, DialogForm } from '../parts/dialog';
import { SelectField, TextField } from '../parts/fields';
import { useLive } from '../parts/live';
import { Empty, Failed, Loaded, Loading } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { Table } from '../parts/table';
import { texts } from '../texts';
import { EventDialog } from './event-dialog';
import '../styles/webhooks.css';

const t = texts.events;
const RETRY_MS = 5_000;
/** Rows shown at first, and more each time that they are asked for. */
const PAGE = 25;
const nameOf = ({ type, subject }: FeedEvent) => `${t.types[type] ?? type}, ${subject}`;

const useIsVisible = () =>
  useSyncExternalStore(
    (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    () => document.visibilityState === 'visible',
  );

export function Events() {
  const client = useQueryClient();
  const { say } = useNotices();
  const isVisible = useIsVisible();
  const isFollowing = useLive() && isVisible;
  const { valueOf, set: setFilter } = useSearchFilters();
  const [shown, setShown] = useState<string | null>(null);
  const [sending, setSending] = useState<FeedEvent | null>(null);
  const webhooks = useWebhooks();
  const [most, setMost] = useState(PAGE);
  const [isLooking, setLooking] = useState(false);
  const filter = { type: valueOf('type'), subject: valueOf('subject').trim() };
  const { type, subject } = filter;
  const set = (name: keyof typeof filter) => (value: string) => setFilter(name, value);
  const key = ['events', type, subject];
  const latest = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => readLatest(filter, signal),
    placeholderData: (before) => before,
  });
  const isRead = latest.isSuccess && !latest.isPlaceholderData;

  /** Adds the events that have arrived since the last read. Returns their number. */
  const addNewer = async (signal: AbortSignal): Promise<number> => {
    const before = client.getQueryData<Latest>(key)!;
    const newer = await readNewer(before, filter, signal);
    client.setQueryData<Latest>(key, withNewer(before, newer));
    return newer.events.length;
  };
  const looking = useRef<AbortController>(null);
  const look = async () => {
    looking.current = new AbortController();
    setLooking(true);
    try {
      if ((await addNewer(looking.current.signal)) === 0) say(t.nothingNewer);
    } catch (error) {
      if (!looking.current.signal.aborted) say((error as Error).message, 'bad');
    } finally {
      setLooking(false);
    }
  };
  // Stop waiting for events of the previous filter.
  useEffect(() => () => looking.current?.abort(), [type, subject]);

  useEffect(() => {
    if (!isFollowing || !isRead) return;
    const stop = new AbortController();
    const follow = async () => {
      while (!stop.signal.aborted)
        try {
          await addNewer(stop.signal);
        } catch {
          if (!stop.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        }
    };
    void follow();
    return () => stop.abort();
  }, [isFollowing, isRead, type, subject]);

  return (
    <Card
      title={t.events}
      note={t.liveNote}
      actions={
        <button
          type="button"
          className="button"
          disabled={!isRead || isLooking || isFollowing}
          onClick={() => void look()}
        >
          {isLooking || isFollowing ? t.waiting : t.newer}
        </button>
      }
    >
      <div className="stack">
        <p className="hint">{t.intro}</p>
        <div className="form filters" role="search">
          <SelectField
            label={t.type}
            value={type}
            options={[
              { value: '', label: t.anyType },
              ...Object.entries(t.types)
                .filter(([value]) => !RESERVED_EVENT_TYPES.includes(value))
                .map(([value, label]) => ({ value, label: `${label} (${value})` })),
            ]}
            onValue={set('type')}
          />
          <TextField
            label={t.subject}
            type="search"
            hint={t.subjectHint}
            value={valueOf('subject')}
            onValue={set('subject')}
          />
        </div>
        {latest.isPending && <Loading lines={6} />}
        {latest.isError && <Failed error={latest.error} retry={() => void latest.refetch()} />}
        {latest.isSuccess && latest.data.events.length === 0 && (
          <Empty title={t.emptyTitle}>
            <p>{latest.data.since ? t.emptySince(formatMoment(latest.data.since)) : t.emptyText}</p>
          </Empty>
        )}
        {latest.isSuccess && latest.data.events.length > 0 && (
          <>
            <Table
              caption={t.events}
              rows={latest.data.events.slice(0, most)}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: t.event,
                  isHead: true,
                  cell: (event) => (
                    <span className="event-name">
                      <span>
                        {t.types[event.type] ?? event.type}{' '}
                        {event.erased && <span className="badge plain">{t.erased}</span>}
                      </span>
                      <code className="hint">{event.type}</code>
                    </span>
                  ),
                },
                {
                  name: t.subject,
                  cell: (event) => (
                    <button
                      type="button"
                      className="link-button"
                      title={t.filterBy(event.subject)}
                      onClick={() => set('subject')(event.subject)}
                    >
                      <code>{event.subject}</code>
                    </button>
                  ),
                },
                { name: t.occurred, cell: ({ occurred_at }) => formatExactMoment(occurred_at) },
                {
                  name: t.action,
                  cell: (event) => (
                    <span className="actions">
                      <button
                        type="button"
                        className="button small"
                        aria-label={t.jsonOf(nameOf(event))}
                        onClick={() => setShown(event.id)}
                      >
                        {t.json}
                      </button>
                      {webhooks.data && webhooks.data.length > 0 && (
                        <button
                          type="button"
                          className="button small"
                          aria-label={t.sendOf(nameOf(event))}
                          onClick={() => setSending(event)}
                        >
                          {t.send}
                        </button>
                      )}
                    </span>
                  ),
                },
              ]}
            />
            {latest.data.events.length > most && (
              <button type="button" className="button" onClick={() => setMost(most + PAGE)}>
                {texts.more}
              </button>
            )}
            <p className="hint">
              {t.since(
                formatNumber(Math.min(most, latest.data.events.length)),
                latest.data.since && formatMoment(latest.data.since),
              )}
            </p>
          </>
        )}
      </div>
      <EventDialog eventId={shown} onClose={() => setShown(null)} />
      {sending && <SendAgain event={sending} onClose={() => setSending(null)} />}
    </Card>
  );
}

function SendAgain({ event, onClose }: { event: FeedEvent; onClose: () => void }) {
  const { say } = useNotices();
  const webhooks = useWebhooks();
  const [chosen, setChosen] = useState('');
  const takers = (webhooks.data ?? []).filter(
    ({ enabled, types }) => enabled && (types === null || types.includes(event.type)),
  );
  const webhookId = chosen || takers[0]?.id || '';
  const send = async () => {
    try {
      await retryDelivery(webhookId, event.id);
    } catch (refusal) {
      const isUnknown = refusal instanceof ApiError && refusal.code === 'EVENT_NOT_FOUND';
      throw isUnknown ? new Error(t.notDelivered) : refusal;
    }
    say(t.sent(webhookId));
    onClose();
  };
  if (takers.length === 0)
    return (
      <Dialog title={t.sendTitle} isOpen onClose={onClose}>
        <Loaded query={webhooks}>
          {() => (
            <Empty title={t.noWebhook}>
              <Link to="/integration/webhooks">{t.toWebhooks}</Link>
            </Empty>
          )}
        </Loaded>
      </Dialog>
    );
  return (
    <DialogForm title={t.sendTitle} action={t.send} isOpen onClose={onClose} onSubmit={send}>
      <p>{t.sendText(nameOf(event))}</p>
      <SelectField
        label={t.webhook}
        value={webhookId}
        options={takers.map(({ id, url }) => ({ value: id, label: `${id} (${url})` }))}
        onValue={setChosen}
      />
    </DialogForm>
  );
}
