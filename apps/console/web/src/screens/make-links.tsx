import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useCampaigns } from '../api/campaigns';
import { sendRequest } from '../api/http';
import { JOBS_KEY } from '../api/link-jobs';
import { resetOf, shortLimits } from '../api/limits';
import { perkway, responseOf } from '../api/perkway';
import { poolName } from '../api/pools';
import { useSession } from '../api/session';
import { refreshGiftCards } from '../api/stock';
import type { CreatedLinkJob, LinkedReferences, Pool } from '../api/types';
import { dayOf, daysAgo } from '../dates';
import type { MissingColumnError } from '../import/column-from-csv';
import { formatDate, formatLongDay, formatMoment, formatMoney, formatNumber } from '../format';
import { CsvButton } from '../parts/csv-button';
import { Dialog, DialogForm } from '../parts/dialog';
import { CheckField, FileField, SelectField, TextArea, TextField } from '../parts/fields';
import { NoProduct } from '../parts/no-product';
import { useNotices } from '../parts/notices';
import { ShownOnce } from '../parts/shown-once';
import { texts } from '../texts';

const t = texts.giftCards;
const MOST = 10_000;
const CHECK_MS = 15_000;
const TEMPLATE_ROWS = [['customer-1007'], ['customer-1008']];

/** Returns the references that would get a second link. Null if the check failed: the person then decides without it. */
const checkReferences = (references: string[]): Promise<LinkedReferences | null> =>
  sendRequest<LinkedReferences>('/api/link-jobs/check', {
    method: 'POST',
    body: { references },
    timeoutMs: CHECK_MS,
  }).then(
    ({ body }) => body,
    () => null,
  );

interface Props {
  kind: 'one' | 'many';
  pools: Pool[];
  /** The campaign that is chosen at first; empty for none. */
  campaignId: string;
  /** UTM parameters of the campaign's mailing that the links are for. */
  mailingUtm: Record<string, string> | null;
  onClose: () => void;
}

export default function MakeLinks({ kind, pools, campaignId, mailingUtm, onClose }: Props) {
  const client = useQueryClient();
  const { say } = useNotices();
  const { person } = useSession();
  // Largest stock first, as the most likely choice.
  const options = pools
    .flatMap((pool) =>
      pool.inventories
        .filter(({ available }) => available > 0)
        .map((entry) => ({
          pool,
          entry,
          value: [pool.id, entry.denomination, entry.currency, entry.country].join('|'),
        })),
    )
    .sort((one, other) => other.entry.available - one.entry.available);
  const campaigns = useCampaigns();
  const [card, setCard] = useState(options[0]?.value ?? '');
  const [until, setUntil] = useState(daysAgo(-30));
  const [campaign, setCampaign] = useState(campaignId);
  const [reference, setReference] = useState('');
  // The references of many links are usually the ids that the mailer puts into the message; one link may have any.
  const [areJourneyIds, setJourneyIds] = useState(kind === 'many');
  const [by, setBy] = useState<'count' | 'list'>('list');
  /** Null until the person changes the suggested name. */
  const [ownName, setName] = useState<string | null>(null);
  // Stays the same, because a repeated request must have the same name.
  const [opened] = useState(() => formatMoment(Date.now()));
  const [isChecking, setChecking] = useState(false);
  const [linked, setLinked] = useState<LinkedReferences | null>(null);
  const [short, setShort] = useState<Awaited<ReturnType<typeof shortLimits>>>([]);
  const [count, setCount] = useState('100');
  const [list, setList] = useState('');
  const [fileError, setFileError] = useState<string | null>(null);
  /** A file without the column “reference”, whose columns are offered. */
  const [otherColumns, setOtherColumns] = useState<MissingColumnError | null>(null);
  const [column, setColumn] = useState('');
  const [made, setMade] = useState<string | null>(null);
  // Idempotency key of this attempt: pressing the button again after a lost response creates nothing twice.
  const attempt = useRef(crypto.randomUUID());

  const references = list
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const wanted = by === 'list' ? references.length : Number(count);
  const chosen = options.find(({ value }) => value === card);
  const hasReferences = kind === 'one' ? reference.trim() !== '' : by === 'list';
  const hasJourneys = hasReferences && campaign !== '' && areJourneyIds;
  const attributes = campaign === campaignId ? mailingUtm : null;
  const campaignName = campaigns.data?.find(({ id }) => id === campaign)?.name;
  const name = ownName ?? (chosen ? t.suggestedName(campaignName ?? poolName(chosen.pool), opened) : '');
  const missing = kind === 'many' && chosen ? wanted - chosen.entry.available : 0;

  /** Any change of the form starts a new attempt. */
  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      attempt.current = crypto.randomUUID();
      set(value);
    };

  const submit = async () => {
    if (!chosen) throw new Error(t.noOption);
    if (kind === 'many' && !(wanted >= 1)) throw new Error(t.needOne[by]);
    if (kind === 'many' && wanted > MOST) throw new Error(t.tooMany);
    if (kind === 'many' && !isChecking) {
      const checked = attempt.current;
      const of = { pool_id: chosen.pool.id, campaign_id: campaign || null, created_by: person };
      const [found, limits] = await Promise.all([
        by === 'list' ? checkReferences(references) : null,
        // If the check failed, the person decides without it.
        shortLimits({ ...chosen.entry, ...of }, wanted, AbortSignal.timeout(CHECK_MS)).catch(() => []),
      ]);
      setLinked(found);
      setShort(limits);
      // Not if the form was changed meanwhile.
      if (checked === attempt.current) setChecking(true);
      return;
    }
    const expires = dayOf(until);
    expires.setHours(23, 59, 59, 0);
    const { denomination, currency, country } = chosen.entry;
    const of = { denomination, currency, country, expires_at: Math.floor(expires.getTime() / 1000) };
    if (kind === 'one') {
      const { reward_link } = await responseOf(
        perkway.gift.generateRewardLink({
          poolId: chosen.pool.id,
          idempotencyKey: attempt.current,
          // The console's server replaces this with the person or key.
          createdBy: 'console',
          ...of,
          ...(campaign && { campaign_id: campaign }),
          ...(reference.trim() && { reference: reference.trim() }),
          ...(hasJourneys && { journey_id: reference.trim() }),
        }),
      );
      setMade(reward_link);
    } else {
      const { body: job } = await sendRequest<CreatedLinkJob>('/api/link-jobs', {
        method: 'POST',
        headers: { 'idempotency-key': attempt.current },
        body: {
          poolId: chosen.pool.id,
          ...of,
          ...(campaign && { campaign }),
          ...(name.trim() && { name: name.trim() }),
          ...(by === 'list' ? { references } : { count: wanted }),
          ...(hasJourneys && { references_are_journey_ids: true }),
          ...(attributes && { attributes }),
        },
      });
      await client.invalidateQueries({ queryKey: JOBS_KEY });
      say(job.state === 'awaiting_approval' ? t.waitingStarted : t.started);
      onClose();
    }
    void refreshGiftCards(client);
  };

  if (made)
    return (
      <Dialog title={t.madeTitle} isOpen onClose={onClose} isHeld>
        <ShownOnce text={t.madeText} secret={made} copy={t.copyLink} onClose={onClose} />
      </Dialog>
    );

  if (isChecking && chosen) {
    const { denomination, currency } = chosen.entry;
    const distinct = [...new Set(references)];
    const repeated = references.length - distinct.length;
    const alreadyLinked = new Set(linked?.references);
    const unlinked = distinct.filter((reference) => !alreadyLinked.has(reference));
    const makesSecondLinks = by === 'list' && unlinked.length < references.length;
    const removeLines = () => {
      changed(setList)(unlinked.join('\n'));
      setChecking(false);
    };
    return (
      <DialogForm
        title={t.checkTitle}
        action={t.start(formatNumber(wanted), formatMoney(wanted * denomination, currency), wanted === 1)}
        back={{ label: t.back, onBack: () => setChecking(false) }}
        isDanger={makesSecondLinks}
        isReview
        isOpen
        onClose={onClose}
        onSubmit={submit}
      >
        <p className="headline">
          {t.checkText(
            formatNumber(wanted),
            formatMoney(denomination, currency),
            formatMoney(wanted * denomination, currency),
            wanted === 1,
          )}
        </p>
        <p>
          {campaignName !== undefined && t.checkFor(campaignName)}{' '}
          {t.checkDetails(poolName(chosen.pool), formatLongDay(dayOf(until)))}
        </p>
        {missing > 0 ? (
          <p className="field-error">{t.missing(formatNumber(missing))}</p>
        ) : (
          <p>{t.checkLeft(formatNumber(-missing), missing === -1)}</p>
        )}
        {short.map((limit) => (
          <p key={limit.id} className="field-error">
            {texts.limits.allowsOnly(limit.id, limit.left)} {resetOf(limit)}
          </p>
        ))}
        {by === 'count' ? (
          <p className="hint">{t.checkNoReferences}</p>
        ) : (
          <>
            {repeated > 0 && <b>{t.checkRepeated(formatNumber(repeated), repeated === 1)}</b>}
            {linked?.latest && (
              <b>
                {t.checkLinked(
                  formatNumber(alreadyLinked.size),
                  alreadyLinked.size === 1,
                  formatDate(linked.latest),
                )}
              </b>
            )}
            {!linked && <p className="hint">{t.checkFailed}</p>}
            {unlinked.length > 0 && makesSecondLinks && (
              <div>
                <button type="button" className="button main small" onClick={removeLines}>
                  {t.removeLines}
                </button>
              </div>
            )}
          </>
        )}
        {by === 'list' && campaign !== '' && (
          <p className="hint">{areJourneyIds ? t.checkJourneys : t.checkNoJourneys}</p>
        )}
        {attributes && <p className="hint">{t.checkMailing(Object.values(attributes).join(', '))}</p>}
      </DialogForm>
    );
  }

  /** Puts the references of a file into the form, so that the person sees them. */
  const read = async (file: File | null) => {
    if (!file) return;
    const { columnFromCsv, MissingColumnError: Missing } = await import('../import/column-from-csv');
    setFileError(null);
    setOtherColumns(null);
    setColumn('');
    try {
      changed(setList)(columnFromCsv(await file.text(), 'reference').join('\n'));
    } catch (error) {
      if (error instanceof Missing) setOtherColumns(error);
      else setFileError((error as Error).message);
    }
  };
  const choose = (index: string) => {
    setColumn(index);
    if (index === '') return;
    changed(setList)(otherColumns!.valuesOf(Number(index)).join('\n'));
  };
  return (
    <DialogForm
      title={kind === 'one' ? t.oneTitle : t.manyTitle}
      action={kind === 'one' ? t.make : t.check}
      isOpen
      onClose={onClose}
      onSubmit={submit}
    >
      <SelectField
        label={t.which}
        hint={t.whichHint}
        value={card}
        options={options.map(({ pool, entry, value }) => ({
          value,
          label: t.option(
            poolName(pool),
            formatMoney(entry.denomination, entry.currency),
            entry.country,
            formatNumber(entry.available),
          ),
        }))}
        onValue={changed(setCard)}
      />
      {chosen && <NoProduct product={chosen.pool.product} />}
      <p className="hint">{t.recipientsSee}</p>
      <TextField
        label={t.expires}
        type="date"
        value={until}
        min={daysAgo(0)}
        required
        hint={t.expiresHint}
        onValue={changed(setUntil)}
      />
      <SelectField
        label={t.campaign}
        hint={t.campaignHint}
        value={campaign}
        any={t.noCampaign}
        options={(campaigns.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        onValue={changed(setCampaign)}
      />
      {kind === 'one' ? (
        <TextField
          label={t.reference}
          value={reference}
          maxLength={255}
          hint={t.referenceHint}
          onValue={changed(setReference)}
        />
      ) : (
        <>
          <TextField
            label={t.jobName}
            maxLength={100}
            hint={t.jobNameHint}
            value={name}
            onValue={changed(setName)}
          />
          <SelectField
            label={t.by}
            value={by}
            options={t.bys}
            onValue={(value) => changed(setBy)(value as 'count' | 'list')}
          />
          {by === 'count' ? (
            <TextField
              label={t.howMany}
              type="number"
              min={1}
              max={MOST}
              step={1}
              required
              value={count}
              hint={t.howManyHint}
              onValue={changed(setCount)}
            />
          ) : (
            <>
              <div className="stack">
                <FileField
                  label={t.referencesFile}
                  hint={t.referencesFileHint}
                  error={fileError}
                  accept=".csv,.txt,text/csv,text/plain"
                  onFile={(file) => void read(file)}
                />
                {otherColumns && (
                  <SelectField
                    label={t.referencesColumn}
                    hint={t.referencesColumnHint}
                    value={column}
                    any={t.chooseColumn}
                    options={otherColumns.names.map((name, index) => ({
                      value: String(index),
                      label: name || t.columnNumber(index + 1),
                    }))}
                    onValue={choose}
                  />
                )}
                <div className="actions">
                  <CsvButton
                    label={texts.csvTemplate}
                    name="references.csv"
                    head={['reference']}
                    rows={TEMPLATE_ROWS}
                  />
                </div>
              </div>
              <TextArea
                label={t.references}
                rows={7}
                className="wide"
                value={list}
                hint={t.referencesHint}
                onValue={changed(setList)}
              />
            </>
          )}
        </>
      )}
      {hasReferences && campaign !== '' && (
        <div className="wide">
          <CheckField
            label={kind === 'one' ? t.isJourneyId : t.areJourneyIds}
            checked={areJourneyIds}
            onValue={changed(setJourneyIds)}
          />
          <p className="hint">{kind === 'one' ? t.journeyIdHint : t.journeyIdsHint}</p>
        </div>
      )}
      <p className="hint" role="status">
        {kind === 'many' &&
          chosen &&
          wanted >= 1 &&
          t.stockFor(formatNumber(wanted), formatNumber(chosen.entry.available))}{' '}
        {missing > 0 && <b>{t.missing(formatNumber(missing))}</b>}
      </p>
    </DialogForm>
  );
}
