import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Switch } from 'react-aria-components';
import { useNavigate, useParams } from 'react-router';
import { perkway, responseOf, type Stored } from '../api/perkway';
import type { Webhook } from '../api/types';
import { changeWebhook, useWebhook, WEBHOOKS_KEY } from '../api/webhooks';
import { formatMoment } from '../format';
import { CopyButton } from '../parts/copy-button';
import { Confirm, Dialog } from '../parts/dialog';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card, Screen } from '../parts/screen';
import { ShownOnce } from '../parts/shown-once';
import { texts } from '../texts';
import { Deliveries } from './deliveries';
import { EditWebhook } from './webhook-form';
import '../styles/webhooks.css';

const t = texts.webhooks;
const LIST = '/integration/webhooks';
const VERIFY = `import { verifyWebhook } from '@perkway/client';

const event = verifyWebhook(body, request.headers, process.env.WEBHOOK_SECRET);`;

export default function WebhookScreen() {
  const { webhookId = '' } = useParams();
  const webhook = useWebhook(webhookId);
  return (
    <Screen title={webhookId} back={{ to: LIST, label: t.webhooks }}>
      <Loaded query={webhook} lines={8}>
        {(stored) => <Page stored={stored} />}
      </Loaded>
    </Screen>
  );
}

type Asked = 'edit' | 'disable' | 'rotate' | 'delete' | null;

function Page({ stored }: { stored: Stored<Webhook> }) {
  const webhook = stored.body;
  const { id } = webhook;
  const client = useQueryClient();
  const navigate = useNavigate();
  const { say, attempt } = useNotices();
  const [asked, setAsked] = useState<Asked>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: WEBHOOKS_KEY });
  const close = () => setAsked(null);

  /** Reads the webhook again if the change is refused: somebody else may have changed it. */
  const change = async (request: Promise<unknown>) => {
    await request.catch(async (error: Error) => {
      await refresh();
      throw error;
    });
  };
  const enable = async (enabled: boolean) => {
    await change(changeWebhook(stored, { enabled }));
    // Before the notice: the next change needs the new ETag.
    await refresh();
    say(enabled ? t.enabledNotice : t.disabledNotice);
  };
  const ping = async () => {
    await responseOf(perkway.events.pingWebhook({ webhookId: id }));
    say(t.pinged);
    await refresh();
  };

  return (
    <>
      {webhook.enabled && webhook.failing_since && (
        <div className="callout">
          <h2>{t.failing(formatMoment(webhook.failing_since))}</h2>
          <p>{t.failingText}</p>
        </div>
      )}
      {!webhook.enabled && (
        <div className="callout">
          {webhook.disabled_at ? (
            <>
              <h2>{t.disabledTitle(formatMoment(webhook.disabled_at))}</h2>
              <p>{webhook.disabled_reason}</p>
              <p>{t.disabledText}</p>
            </>
          ) : (
            <p>{t.disabledOwn}</p>
          )}
        </div>
      )}
      <Card
        title={t.details}
        actions={
          <>
            <Switch
              className="switch"
              isSelected={webhook.enabled}
              onChange={(on) => (on ? void attempt(enable(true)) : setAsked('disable'))}
            >
              <span className="switch-track" />
              {t.enabled}
            </Switch>
            <button type="button" className="button" onClick={() => void attempt(ping())}>
              {t.ping}
            </button>
            <button type="button" className="button" onClick={() => setAsked('edit')}>
              {texts.edit}
            </button>
            <button type="button" className="button danger" onClick={() => setAsked('delete')}>
              {texts.delete}
            </button>
          </>
        }
      >
        <dl className="facts">
          <dt>{t.url}</dt>
          <dd>
            <code>{webhook.url}</code>
          </dd>
          {webhook.description && (
            <>
              <dt>{t.description}</dt>
              <dd>{webhook.description}</dd>
            </>
          )}
          <dt>{t.types}</dt>
          <dd>
            {webhook.types === null ? (
              t.allTypes
            ) : (
              <ul className="type-list">
                {webhook.types.map((type) => (
                  <li key={type}>
                    <code>{type}</code>
                  </li>
                ))}
              </ul>
            )}
          </dd>
          <dt>{t.order}</dt>
          <dd>{webhook.ordered ? t.orderedShort : t.unordered}</dd>
          <dt>{t.created}</dt>
          <dd>{formatMoment(webhook.created_at)}</dd>
        </dl>
      </Card>
      <Deliveries webhook={webhook} />
      <Card
        title={t.secret}
        actions={
          <button type="button" className="button" onClick={() => setAsked('rotate')}>
            {t.rotate}
          </button>
        }
      >
        <div className="stack">
          <p>{t.secretText}</p>
          <div className="code-head">
            <h3>{t.verify}</h3>
            <CopyButton text={VERIFY} of={t.verify} />
          </div>
          <pre className="code-block">
            <code>{VERIFY}</code>
          </pre>
        </div>
      </Card>
      {asked === 'edit' && <EditWebhook stored={stored} onClose={close} />}
      <Confirm
        title={t.disableTitle}
        text={t.disableText(id)}
        action={t.disable}
        isOpen={asked === 'disable'}
        onClose={close}
        onConfirm={() => enable(false)}
      />
      <Confirm
        title={t.rotateTitle}
        text={t.rotateText(id)}
        action={t.rotate}
        isOpen={asked === 'rotate'}
        onClose={close}
        onConfirm={async () => {
          const rotated = await responseOf(perkway.events.rotateWebhookSecret({ webhookId: id }));
          setSecret(rotated.secret);
        }}
      />
      <Dialog title={t.secretTitle} isOpen={secret !== null} isHeld onClose={() => setSecret(null)}>
        <ShownOnce
          text={t.rotatedOnce}
          secret={secret ?? ''}
          copy={t.copySecret}
          close={t.done}
          onClose={() => setSecret(null)}
        />
      </Dialog>
      <Confirm
        title={t.deleteTitle}
        text={t.deleteText(id)}
        action={texts.delete}
        isOpen={asked === 'delete'}
        onClose={close}
        onConfirm={async () => {
          const ifMatch = stored.etag ?? undefined;
          await change(responseOf(perkway.events.deleteWebhook({ webhookId: id, ifMatch })));
          say(t.deleted);
          client.removeQueries({ queryKey: [...WEBHOOKS_KEY, 'all'] });
          await navigate(LIST);
        }}
      />
    </>
  );
}
