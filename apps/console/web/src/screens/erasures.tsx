import { slugOf } from '@perkway/domain/slug';
import { useQueries, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Link, useParams } from 'react-router';
import { sendRequest } from '../api/http';
import { responseOf, perkway } from '../api/perkway';
import type { DataOfPerson, Erasure } from '../api/types';
import { formatList, formatMoment, formatNumber } from '../format';
import { useAccountName } from '../parts/account-field';
import { AuditLogLink } from '../parts/audit-log-link';
import { CopyButton } from '../parts/copy-button';
import { CsvButton } from '../parts/csv-button';
import { Confirm } from '../parts/dialog';
import { SelectField, TextField } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.erasures;
const WATCH_MS = 2_000;
type Kind = keyof typeof t.kinds;
const KINDS = Object.keys(t.kinds) as Kind[];

const personQuery = (accountId: string, kind: Kind, id: string) => ({
  queryKey: ['person', accountId, kind, id],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (
      await sendRequest<DataOfPerson>(`/api/accounts/${encodeURIComponent(accountId)}/person`, {
        method: 'POST',
        body: { [kind]: id },
        signal,
      })
    ).body,
  gcTime: 0,
});

interface PersonOfKind {
  kind: Kind;
  query: UseQueryResult<DataOfPerson>;
}

/** Returns true only if the count succeeded and found nothing. */
const hasNothing = ({ query: { data } }: PersonOfKind) => data !== undefined && isEmpty(data);
const isEmpty = ({ events, job_rows, codes }: DataOfPerson) => events.length + job_rows + codes === 0;

/** Finds a person's data, erases it and shows receipts. The id stays out of the URL, which histories and logs keep. */
export default function Erasures() {
  const { accountId = '' } = useParams();
  const account = useAccountName(accountId);
  const [kind, setKind] = useState<Kind | ''>('');
  const [id, setId] = useState('');
  const [asked, setAsked] = useState<{ kinds: Kind[]; id: string }>({ kinds: [], id: '' });
  const queries = useQueries({ queries: asked.kinds.map((one) => personQuery(accountId, one, asked.id)) });
  const isCounted = queries.every(({ isPending }) => !isPending);
  const found = asked.kinds
    .map((one, nth): PersonOfKind => ({ kind: one, query: queries[nth]! }))
    .toSorted((a, b) => (isCounted ? Number(hasNothing(a)) - Number(hasNothing(b)) : 0));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked({ kinds: kind ? [kind] : KINDS, id: id.trim() });
  };
  return (
    <Screen
      title={t.erase}
      intro={t.intro(account)}
      back={{ to: `/accounts/${encodeURIComponent(accountId)}`, label: account }}
    >
      <Card title={t.search}>
        <form className="form filters" onSubmit={submit}>
          <SelectField
            label={t.which}
            value={kind}
            any={t.anyKind}
            options={t.kinds}
            onValue={(value) => setKind(value as Kind | '')}
          />
          <TextField
            label={t.id}
            hint={kind ? t.hints[kind] : t.anyHint}
            required
            maxLength={255}
            value={id}
            onValue={setId}
          />
          <div className="actions">
            <button type="submit" className="button">
              {t.find}
            </button>
          </div>
        </form>
      </Card>
      {asked.kinds.length > 0 && asked.id.includes('@') && (
        <p className="callout" role="status">
          {t.address} <Link to={`/accounts/${encodeURIComponent(accountId)}`}>{texts.accounts.people}</Link>
        </p>
      )}
      {found.map((one) => (
        <Found
          key={`${one.kind}/${asked.id}`}
          {...{ accountId, account, isCounted }}
          found={one}
          id={asked.id}
          onErased={() => {
            setAsked({ ...asked, kinds: asked.kinds.filter((other) => other !== one.kind) });
            setId('');
          }}
        />
      ))}
      {found.length > 1 && isCounted && (
        <EraseAll
          {...{ accountId, account, found }}
          id={asked.id}
          onErased={() => {
            setAsked({ kinds: [], id: '' });
            setId('');
          }}
        />
      )}
      <Receipts accountId={accountId} />
    </Screen>
  );
}

interface ErasureProps {
  accountId: string;
  /** Its name. */
  account: string;
  id: string;
  onErased: () => void;
}

interface FoundProps extends ErasureProps {
  found: PersonOfKind;
  /** Whether all kinds are counted. Before that, nothing can be erased, because the cards may change places. */
  isCounted: boolean;
}

/** An erasure without counted data is not the main action, but stays possible: it covers more than the counts. */
const eraseButton = (isSecondary: boolean) => (isSecondary ? 'button' : 'button danger');

function Found({ found, isCounted, ...props }: FoundProps) {
  const [isConfirming, setConfirming] = useState(false);
  const { kind, query } = found;
  return (
    <Card
      title={t.found(t.kinds[kind].toLowerCase())}
      note={kind === 'journey_id' ? t.journeyGoes : t.customerGoes}
      actions={
        isCounted && (
          <button
            type="button"
            className={eraseButton(hasNothing(found))}
            aria-label={t.confirmOf(t.kinds[kind].toLowerCase())}
            onClick={() => setConfirming(true)}
          >
            {t.confirm}
          </button>
        )
      }
    >
      <Loaded query={query}>{(data) => <Counts kind={kind} data={data} />}</Loaded>
      <p className="hint">{t.attributes[kind]}</p>
      <ConfirmErasure {...props} found={[found]} isOpen={isConfirming} onClose={() => setConfirming(false)} />
    </Card>
  );
}

function Counts({ kind, data }: { kind: Kind; data: DataOfPerson }) {
  if (isEmpty(data)) return <p>{t.nothing[kind]}</p>;
  const { events, job_rows, codes } = data;
  return (
    <ul>
      {events.map(({ cube, count }) => (
        <li key={cube}>{t.events(formatNumber(count), texts.explore.cubes[cube] ?? cube)}</li>
      ))}
      {job_rows > 0 && <li>{t.jobRows(formatNumber(job_rows))}</li>}
      {codes > 0 && <li>{t.codes(formatNumber(codes))}</li>}
    </ul>
  );
}

/** Erases the person as customer and as journey, for ids that are used as both. */
function EraseAll(props: ErasureProps & { found: PersonOfKind[] }) {
  const [isConfirming, setConfirming] = useState(false);
  return (
    <Card
      title={t.both}
      note={t.bothNote}
      actions={
        <button
          type="button"
          className={eraseButton(props.found.every(hasNothing))}
          onClick={() => setConfirming(true)}
        >
          {t.eraseBoth}
        </button>
      }
    >
      <ConfirmErasure {...props} isOpen={isConfirming} onClose={() => setConfirming(false)} />
    </Card>
  );
}

interface ConfirmProps extends ErasureProps {
  found: PersonOfKind[];
  isOpen: boolean;
  onClose: () => void;
}

function ConfirmErasure({ accountId, account, found, id, onErased, ...dialog }: ConfirmProps) {
  const kinds = found.map(({ kind }) => kind);
  const client = useQueryClient();
  const { say } = useNotices();
  return (
    <Confirm
      title={t.confirmTitle}
      text={t.confirmText(formatList(kinds.map((kind) => t.kinds[kind].toLowerCase())), id, account)}
      action={t.action}
      {...dialog}
      onConfirm={async () => {
        try {
          for (const kind of kinds) await responseOf(perkway.token.requestErasure({ accountId, [kind]: id }));
        } finally {
          await client.invalidateQueries({ queryKey: ['erasures', accountId] });
        }
        say(t.requested);
        onErased();
      }}
    >
      {found.map(({ kind, query: { data } }) => (
        <div key={kind}>
          <p>{t.found(t.kinds[kind].toLowerCase())}:</p>
          {data ? <Counts kind={kind} data={data} /> : <p>{t.notCounted}</p>}
        </div>
      ))}
    </Confirm>
  );
}

const waitingFor = ({ parts }: Erasure) =>
  Object.entries(parts).flatMap(([app, state]) => (state === 'waiting' ? [app] : []));

function Receipts({ accountId }: { accountId: string }) {
  const receipts = useQuery({
    queryKey: ['erasures', accountId],
    queryFn: async ({ signal }) =>
      (await responseOf(perkway.token.listErasures({ accountId }, { signal }))).data as Erasure[],
    refetchInterval: ({ state }) => state.data?.some((one) => one.state === 'running') && WATCH_MS,
  });
  return (
    <Card
      title={t.receipts}
      note={
        <>
          {t.receiptsNote}{' '}
          <AuditLogLink kind="accounts" object={accountId}>
            {t.who}
          </AuditLogLink>
        </>
      }
    >
      <Loaded query={receipts} isEmpty={(list) => list.length === 0} empty={<p>{t.noReceipts}</p>}>
        {(list) => (
          <>
            <CsvButton
              label={t.csv}
              name={`${slugOf(t.receipts)}-${slugOf(accountId)}.csv`}
              head={['receipt', 'kind', 'requested_at', 'state', 'completed_at']}
              rows={list.map(({ id, kind, requested_at, state, completed_at }) => [
                id,
                kind,
                requested_at,
                state,
                completed_at,
              ])}
            />
            <Table
              caption={t.receipts}
              rows={list}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: t.receipt,
                  isHead: true,
                  cell: ({ id }) => (
                    <>
                      <code>{id}</code> <CopyButton text={id} of={t.receipt} />
                    </>
                  ),
                },
                { name: t.kind, cell: ({ kind }) => t.kinds[kind] },
                { name: t.requestedAt, cell: ({ requested_at }) => formatMoment(requested_at) },
                {
                  name: t.state,
                  cell: (erasure) => (
                    <>
                      <span className={erasure.state === 'done' ? 'badge' : 'badge warn'}>
                        {t.states[erasure.state]}
                      </span>{' '}
                      <span className="hint">
                        {erasure.completed_at
                          ? t.completed(formatMoment(erasure.completed_at))
                          : t.waitingFor(formatList(waitingFor(erasure)))}
                      </span>
                    </>
                  ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </Card>
  );
}
