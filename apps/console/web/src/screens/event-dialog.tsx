import { useQuery } from '@tanstack/react-query';
import { perkway, responseOf } from '../api/perkway';
import type { FeedEvent } from '../api/types';
import { CopyButton } from '../parts/copy-button';
import { Dialog } from '../parts/dialog';
import { Loaded } from '../parts/loaded';
import { texts } from '../texts';

const t = texts.events;
const textOf = (event: FeedEvent) => JSON.stringify(event, null, 2);

/** Shows an event as webhooks deliver it. The dialog is closed while `eventId` is null. */
export function EventDialog({ eventId, onClose }: { eventId: string | null; onClose: () => void }) {
  const event = useQuery({
    queryKey: ['event', eventId],
    queryFn: ({ signal }) => responseOf(perkway.events.getEvent({ eventId: eventId! }, { signal })),
    enabled: eventId !== null,
  });
  return (
    <Dialog title={t.jsonTitle} isOpen={eventId !== null} onClose={onClose}>
      <Loaded query={event} lines={6}>
        {(shown) => (
          <pre className="code-block">
            <code>{textOf(shown)}</code>
          </pre>
        )}
      </Loaded>
      <div className="dialog-actions">
        {event.data && <CopyButton text={textOf(event.data)} label={t.copyJson} />}
        <button type="button" className="button main" onClick={onClose}>
          {texts.close}
        </button>
      </div>
    </Dialog>
  );
}
