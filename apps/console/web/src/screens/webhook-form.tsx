import { RESERVED_EVENT_TYPES } from '@perkway/domain/feed-events';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { perkway, responseOf, storedIfFound, type Stored } from '../api/perkway';
import type { FeedEventType, Webhook, WebhookSecret } from '../api/types';
import { changeWebhook, pathOfWebhook, WEBHOOKS_KEY } from '../api/webhooks';
import { Dialog, DialogForm } from '../parts/dialog';
import { CheckField, TextField } from '../parts/fields';
import { useNotices } from '../parts/notices';
import { ShownOnce } from '../parts/shown-once';
import { texts } from '../texts';

const t = texts.webhooks;
/** The group of each type in the form. */
const GROUP_OF: Record<FeedEventType, keyof typeof t.groups> = {
  'perk.clicked': 'journeys',
  'teaser.viewed': 'journeys',
  'reward.viewed': 'journeys',
  'incentive.clicked': 'journeys',
  'conversion.recorded': 'journeys',
  'reward_link.generated': 'links',
  'reward_link.revealed': 'links',
  'reward_link.cancelled': 'links',
  'reward_link.expired': 'links',
  'pool.low': 'stock',
  'pool.recovered': 'stock',
  'limit.reached': 'stock',
  'cards.withdrawn': 'stock',
};
const TYPES = Object.keys(GROUP_OF) as FeedEventType[];
const GROUPS = (['journeys', 'links', 'stock'] as const).map((group) => ({
  name: t.groups[group],
  types: TYPES.filter((type) => GROUP_OF[type] === group),
}));

const MAX_URL = 2_048;
const MAX_DESCRIPTION = 300;

const madeId = () => `webhook-${crypto.randomUUID().slice(0, 8)}`;

interface Props {
  onClose: () => void;
}

/** Shows the form, then the new webhook's secret in its place. Closing the secret opens the webhook's page. */
export function CreateWebhook({ onClose }: Props) {
  const navigate = useNavigate();
  const [made, setMade] = useState<(Webhook & WebhookSecret) | null>(null);
  if (!made)
    return (
      <WebhookForm
        stored={null}
        onClose={onClose}
        onSaved={(saved) => setMade(saved as Webhook & WebhookSecret)}
      />
    );
  const close = () => {
    onClose();
    void navigate(pathOfWebhook(made.id));
  };
  return (
    <Dialog title={t.secretTitle} isOpen onClose={close} isHeld>
      <ShownOnce
        text={t.secretOnce(made.id)}
        secret={made.secret}
        copy={t.copySecret}
        close={t.done}
        onClose={close}
      />
    </Dialog>
  );
}

export function EditWebhook({ stored, onClose }: Props & { stored: Stored<Webhook> }) {
  const { say } = useNotices();
  return (
    <WebhookForm
      stored={stored}
      onClose={onClose}
      onSaved={() => {
        say(texts.saved);
        onClose();
      }}
    />
  );
}

interface FormProps extends Props {
  stored: Stored<Webhook> | null;
  onSaved: (saved: Webhook) => void;
}

function WebhookForm({ stored, onClose, onSaved }: FormProps) {
  const client = useQueryClient();
  // The page refetches the webhook while the form is open, but saving must send the ETag that the form began with.
  const [base] = useState(stored);
  const before = base?.body;
  const [id, setId] = useState(madeId);
  const [url, setUrl] = useState(before?.url ?? '');
  const [description, setDescription] = useState(before?.description ?? '');
  const [isAll, setAll] = useState(!before?.types);
  const [types, setTypes] = useState<Webhook['types'] & object>(before?.types ?? []);
  // A reserved type is never sent, so it is shown only where it was chosen through the API, to remove it.
  const isOffered = (type: FeedEventType) =>
    !RESERVED_EVENT_TYPES.includes(type) || before?.types?.includes(type);
  const [ordered, setOrdered] = useState(before?.ordered ?? false);

  const write = async () => {
    const body = { url: url.trim(), description: description.trim(), types: isAll ? null : types, ordered };
    if (base) return changeWebhook(base, body);
    const webhookId = id.trim();
    // A PUT would replace it.
    if (await storedIfFound(perkway.events.getWebhook({ webhookId })))
      throw new Error(texts.editor.exists(webhookId));
    return responseOf(perkway.events.putWebhook({ ...body, webhookId }));
  };
  const save = async () => {
    if (!isAll && types.length === 0) throw new Error(t.noType);
    try {
      onSaved(await write());
    } finally {
      // Also if it was refused: somebody else may have changed it.
      void client.invalidateQueries({ queryKey: WEBHOOKS_KEY });
    }
  };

  return (
    <DialogForm
      title={base ? t.editTitle(base.body.id) : t.createTitle}
      action={base ? texts.save : t.create}
      isOpen
      onClose={onClose}
      onSubmit={save}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.url}
            type="url"
            inputMode="url"
            required
            maxLength={MAX_URL}
            placeholder={t.urlPlaceholder}
            hint={t.urlHint}
            value={url}
            onValue={setUrl}
            error={errorOf('url')}
          />
          {!base && (
            <TextField
              label={t.id}
              required
              hint={t.idHint}
              value={id}
              onValue={setId}
              error={errorOf('webhookId')}
            />
          )}
          <TextField
            label={t.description}
            maxLength={MAX_DESCRIPTION}
            hint={t.descriptionHint}
            value={description}
            onValue={setDescription}
            error={errorOf('description')}
          />
          <fieldset>
            <legend className="legend-label">{t.types}</legend>
            <CheckField
              label={
                <span>
                  {t.allTypes} <span className="hint">{t.allTypesHint}</span>
                </span>
              }
              checked={isAll}
              onValue={setAll}
            />
            {!isAll &&
              GROUPS.map((group) => (
                <fieldset key={group.name} className="type-group">
                  <legend className="hint">{group.name}</legend>
                  <div className="checks">
                    {group.types.filter(isOffered).map((type) => (
                      <CheckField
                        key={type}
                        label={
                          <span className="event-type">
                            {texts.events.types[type]} <code className="hint">{type}</code>
                          </span>
                        }
                        checked={types.includes(type)}
                        onValue={(isChosen) =>
                          setTypes(isChosen ? [...types, type] : types.filter((other) => other !== type))
                        }
                      />
                    ))}
                  </div>
                </fieldset>
              ))}
          </fieldset>
          <div>
            <CheckField label={t.ordered} checked={ordered} onValue={setOrdered} />
            <p className="hint check-hint">{t.orderedHint}</p>
          </div>
        </>
      )}
    </DialogForm>
  );
}
