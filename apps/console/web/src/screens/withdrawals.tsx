import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiError } from '../api/http';
import { perkway, responseOf } from '../api/perkway';
import { pathOfLink } from '../api/reward-links';
import type { CardLoad, WithdrawCards, Withdrawal, WithdrawalCheck } from '../api/types';
import { useWithdrawals, withdrawalsKey } from '../api/withdrawals';
import { formatMoment, formatNumber } from '../format';
import { addMoney, formatSums, type Money } from '../money';
import { AuditLogLink } from '../parts/audit-log-link';
import { CsvButton } from '../parts/csv-button';
import { Confirm, DialogForm } from '../parts/dialog';
import { ReasonField, SelectField, TextArea, TextField } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { Card } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { Table } from '../parts/table';
import { useViewAsClient } from '../parts/view-as-client';
import { texts } from '../texts';
import { cardLoads, nameOfLoad } from './card-loads';

const t = texts.withdrawals;
const MAX_CODES = 1_000;

type Selector = keyof typeof t.selectors;
type Reserved = Withdrawal['reserved'];
type Loads = Pick<CardLoad, 'id' | 'file_name' | 'started_at'>[] | undefined;

/** Withdraws cards of a pool, and shows the progress of its withdrawals. */
export function Withdrawals({ poolId, owner, of }: Pick<FormProps, 'poolId' | 'of'> & { owner: string }) {
  const client = useQueryClient();
  const { valueOf, set } = useSearchFilters();
  const [isOpen, setOpen] = useState(false);
  /** The upload whose cards are to be withdrawn, which the list of uploads puts into the URL; empty for none. */
  const loadId = valueOf('withdraw');
  const loads = useQuery(cardLoads(poolId));
  const withdrawals = useWithdrawals(poolId);
  return (
    <Card
      title={t.title}
      note={
        <>
          {t.note}{' '}
          <AuditLogLink kind="pools" object={poolId}>
            {t.who}
          </AuditLogLink>
        </>
      }
      actions={
        <button type="button" className="button danger" onClick={() => setOpen(true)}>
          {t.withdraw}
        </button>
      }
    >
      <Loaded query={withdrawals} isEmpty={(list) => list.length === 0} empty={<p>{t.none}</p>}>
        {(list) => (
          <ul className="stack">
            {list.map((withdrawal) => (
              <Progress key={withdrawal.id} withdrawal={withdrawal} owner={owner} loads={loads.data} />
            ))}
          </ul>
        )}
      </Loaded>
      {(isOpen || loadId) && (
        <WithdrawForm
          poolId={poolId}
          loadId={loadId}
          of={of}
          onClose={() => {
            setOpen(false);
            set('withdraw', '');
          }}
          onBegun={() => client.invalidateQueries({ queryKey: withdrawalsKey(poolId) })}
        />
      )}
    </Card>
  );
}

interface ProgressProps {
  withdrawal: Withdrawal;
  owner: string;
  loads: Loads;
}

function Progress({ withdrawal, owner, loads }: ProgressProps) {
  const { id, state, withdrawn, kept, cancelled, cancelled_links, redeemed, redeemed_links } = withdrawal;
  const short = id.slice(0, 8);
  return (
    <li className="progress" data-withdrawal={state}>
      <span>
        <strong>{withdrawal.reason}</strong>{' '}
        <span className={`badge ${state === 'running' ? 'warn' : ''}`}>{t.states[state]}</span>
      </span>
      <span className="hint">
        {t.of(selectionOf(withdrawal, loads), formatMoment(withdrawal.created_at))}
      </span>
      {state === 'running' && <progress aria-label={t.states.running} />}
      <span>
        {t.counts(
          formatNumber(withdrawn),
          formatNumber(cancelled),
          formatNumber(kept),
          formatNumber(redeemed),
        )}
      </span>
      <Links
        owner={owner}
        title={t.cancelledLinks}
        links={cancelled_links}
        count={cancelled}
        file={`cancelled-links-${short}.csv`}
      />
      <Links
        owner={owner}
        title={t.redeemedLinks}
        links={redeemed_links}
        count={redeemed}
        file={`opened-links-${short}.csv`}
      />
    </li>
  );
}

interface LinksProps {
  /** Their account. */
  owner: string;
  title: (count: string) => string;
  /** Ids, at most 1,000. */
  links: string[];
  count: number;
  /** Name of the CSV file. */
  file: string;
}

function Links({ owner, title, links, count, file }: LinksProps) {
  const view = useViewAsClient();
  if (links.length === 0) return null;
  const caption = title(formatNumber(count));
  return (
    <details>
      <summary>{caption}</summary>
      {count > links.length && <p className="hint">{t.listedLinks(formatNumber(links.length))}</p>}
      <p className="hint">{t.linksNote}</p>
      <CsvButton
        label={texts.downloadCsv}
        name={file}
        head={['link_id']}
        rows={links.map((link) => [link])}
      />
      <Table
        caption={caption}
        rows={links}
        keyOf={(id) => id}
        columns={[
          {
            name: t.shortReference,
            isHead: true,
            cell: (id) => (
              <button type="button" className="link-button" onClick={() => void view(owner, pathOfLink(id))}>
                {id.slice(0, 8)}
              </button>
            ),
          },
          { name: t.link, cell: (id) => <code>{id}</code> },
        ]}
      />
    </details>
  );
}

/** Returns the name of a load if it is one of the last 50, otherwise its short id. */
function nameOf(loadId: string, loads: Loads): string {
  const load = loads?.find(({ id }) => id === loadId);
  return load ? nameOfLoad(load) : t.ofLoad(loadId.slice(0, 8));
}

const selectionOf = ({ batch, load_id, valid_until_before }: Withdrawal, loads: Loads): string =>
  batch !== null
    ? t.ofBatch(batch)
    : load_id !== null
      ? nameOf(load_id, loads)
      : valid_until_before !== null
        ? t.ofDay(valid_until_before)
        : t.ofCodes;

/** The value of the cards that a withdrawal would find. */
function worthOf(found: WithdrawalCheck | null) {
  const [free, reserved]: [Money, Money] = [new Map(), new Map()];
  for (const { denomination, currency, ...cards } of found?.values ?? []) {
    addMoney(free, currency, denomination * cards.free);
    addMoney(reserved, currency, denomination * cards.reserved);
  }
  const inBrackets = (money: Money) => (money.size > 0 ? ` (${formatSums(money)})` : '');
  return { free: inBrackets(free), reserved: inBrackets(reserved) };
}

interface FormProps {
  poolId: string;
  /** Empty for the newest upload. */
  loadId: string;
  /** The pool and its account, in words. */
  of: string;
  onClose: () => void;
  onBegun: () => Promise<unknown>;
}

function WithdrawForm({ poolId, loadId, of, onClose, onBegun }: FormProps) {
  const loads = useQuery(cardLoads(poolId));
  const [by, setBy] = useState<Selector>('load_id');
  const [batch, setBatch] = useState('');
  const [load, setLoad] = useState(loadId);
  const [codes, setCodes] = useState('');
  const [day, setDay] = useState('');
  const [reserved, setReserved] = useState<Reserved>('keep');
  const [reason, setReason] = useState('');
  const [checked, setChecked] = useState<{
    body: WithdrawCards;
    found: WithdrawalCheck | null;
    selection: string;
  } | null>(null);
  // Idempotency key of this form: confirming again after a lost response withdraws nothing twice.
  const attempt = useRef(crypto.randomUUID());
  const list = codes
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  // The newest upload stays selected if another begins meanwhile.
  if (load === '' && loads.data?.[0]) setLoad(loads.data[0].id);

  const review = async () => {
    if (by === 'load_id' && !load) throw new Error(t.needLoad);
    if (by === 'codes' && (list.length === 0 || list.length > MAX_CODES)) throw new Error(t.needCodes);
    const body: WithdrawCards = {
      reason: reason.trim(),
      reserved,
      ...(by === 'batch' && { batch: batch.trim() }),
      ...(by === 'load_id' && { load_id: load }),
      ...(by === 'codes' && { codes: list }),
      ...(by === 'valid_until_before' && { valid_until_before: day }),
    };
    const found = await responseOf(perkway.gift.checkWithdrawal({ poolId, ...body })).catch(
      (error: unknown) => {
        // Counting among very many cards may take too long. The withdrawal works in steps, so it still can be started.
        if (error instanceof ApiError && error.status === 503) return null;
        throw error;
      },
    );
    if (found && found.free + found.reserved + found.redeemed === 0) throw new Error(t.noneFound);
    attempt.current = crypto.randomUUID();
    setChecked({ body, found, selection });
  };
  const selection = {
    batch: t.ofBatch(batch.trim()),
    load_id: nameOf(load, loads.data),
    codes: t.ofSomeCodes(formatNumber(list.length)),
    valid_until_before: t.ofDay(day),
  }[by];

  return (
    <>
      <DialogForm
        title={t.withdraw}
        action={t.review}
        isOpen={checked === null}
        onClose={onClose}
        onSubmit={review}
      >
        <SelectField
          label={t.which}
          value={by}
          options={t.selectors}
          onValue={(value) => setBy(value as Selector)}
        />
        {by === 'batch' && (
          <TextField
            label={t.batch}
            hint={t.batchHint}
            required
            maxLength={100}
            value={batch}
            onValue={setBatch}
          />
        )}
        {by === 'load_id' && (
          <SelectField
            label={t.load}
            value={load}
            options={(loads.data ?? []).map((one) => ({
              value: one.id,
              label: t.loadOption(nameOfLoad(one), formatNumber(one.imported)),
            }))}
            onValue={setLoad}
          />
        )}
        {by === 'codes' && <TextArea label={t.codes} hint={t.codesHint} value={codes} onValue={setCodes} />}
        {by === 'valid_until_before' && (
          <TextField label={t.day} hint={t.dayHint} type="date" required value={day} onValue={setDay} />
        )}
        <SelectField
          label={t.reserved}
          value={reserved}
          options={t.reservedOptions}
          onValue={(value) => setReserved(value as Reserved)}
        />
        <ReasonField hint={t.reasonHint} value={reason} onValue={setReason} />
      </DialogForm>
      <Confirm
        title={t.confirmTitle(of)}
        text={checked && t.confirmText(checked.selection, reserved, checked.found, worthOf(checked.found))}
        action={t.withdraw}
        isOpen={checked !== null}
        onClose={() => setChecked(null)}
        onConfirm={async () => {
          await responseOf(
            perkway.gift.withdrawCards({ poolId, idempotencyKey: attempt.current, ...checked!.body }),
          );
          await onBegun();
          onClose();
        }}
      />
    </>
  );
}
