import { slugOf } from '@perkway/domain/slug';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sendRequest } from '../api/http';
import { perkway, responseOf } from '../api/perkway';
import { refreshGiftCards } from '../api/stock';
import type { CardCheck, CardLoad, CardLoadReport, RowReport } from '../api/types';
import { useWithdrawals } from '../api/withdrawals';
import { formatMoment, formatMoney, formatNumber, NONE } from '../format';
import { AuditLogLink } from '../parts/audit-log-link';
import { CsvButton } from '../parts/csv-button';
import { FileField } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { useSearchFilters } from '../parts/search-filters';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.pools;
const WATCH_MS = 1_000;

/** Total rows of the files sent from this window, because the host does not know how many are still to come. */
const totals = new Map<string, number>();

const cardsOf = (poolId: string) => `/api/gift/admin/pools/${poolId}/cards`;
const isCsv = (fileName: string) => !/\.(nd)?jsonl?$/i.test(fileName);

/** Not by the client, whose timeout is too short for a large file. */
const sendFile = <Report,>(path: string, file: File, query: Record<string, string> = {}) =>
  sendRequest<Report>(path, {
    method: 'POST',
    query,
    body: file,
    headers: { 'content-type': isCsv(file.name) ? 'text/csv' : 'application/x-ndjson' },
  });

/** Counts the non-empty lines, without the header of a CSV. */
async function countRows(file: File): Promise<number> {
  let lines = 0;
  let rest = '';
  const texts = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await texts.read(); !part.done; part = await texts.read()) {
    const whole = (rest + part.value).split(/\r?\n/);
    rest = whole.pop()!;
    lines += whole.filter((line) => line.trim() !== '').length;
  }
  return lines + (rest.trim() === '' ? 0 : 1) - (isCsv(file.name) ? 1 : 0);
}

export const cardLoads = (poolId: string) => ({
  queryKey: ['card-loads', poolId],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    responseOf(perkway.gift.getGiftCardLoads({ poolId }, { signal })),
});

export const nameOfLoad = ({ file_name, started_at }: Pick<CardLoad, 'file_name' | 'started_at'>) =>
  t.loadOf(file_name, formatMoment(started_at));

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

/** Shows the uploads of a pool. The host stores their progress, so they are visible from any window. */
export function CardLoads({ poolId }: { poolId: string }) {
  const client = useQueryClient();
  const { say } = useNotices();
  const { set } = useSearchFilters();
  const [file, setFile] = useState<File | null>(null);
  const [checked, setChecked] = useState<{ file: File; check: CardCheck } | null>(null);
  const [isChecking, setChecking] = useState(false);
  const [sending, setSending] = useState<string | null>(null);
  const withdrawals = useWithdrawals(poolId).data ?? [];
  const loads = useQuery({
    ...cardLoads(poolId),
    refetchInterval: ({ state }) =>
      sending || state.data?.some((load) => load.state === 'running') ? WATCH_MS : false,
  });

  // Warn before closing: only this window has the rest of the file.
  useEffect(() => {
    if (sending === null) return undefined;
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [sending]);

  // Another file may have been chosen meanwhile.
  const check = checked?.file === file ? checked?.check : undefined;
  const checkFile = async () => {
    if (!file) return;
    setChecking(true);
    try {
      const { body } = await sendFile<CardCheck>(`${cardsOf(poolId)}/check`, file);
      setChecked({ file, check: body });
    } catch (error) {
      say((error as Error).message, 'bad');
    } finally {
      setChecking(false);
    }
  };
  const send = async () => {
    if (!file) return;
    const loadId = crypto.randomUUID();
    setSending(loadId);
    try {
      totals.set(loadId, await countRows(file));
      const { body } = await sendFile<CardLoadReport>(cardsOf(poolId), file, {
        loadId,
        fileName: file.name,
      });
      setChecked(null);
      say(
        t.counts(
          formatNumber(body.imported),
          formatNumber(body.duplicates),
          formatNumber(body.rejected_total ?? body.rejected.length),
        ),
      );
    } catch (error) {
      say((error as Error).message, 'bad');
    } finally {
      setSending(null);
      await client.invalidateQueries({ queryKey: cardLoads(poolId).queryKey });
      await refreshGiftCards(client);
    }
  };

  return (
    <Card
      title={t.upload}
      note={
        <>
          {t.loadsNote}{' '}
          <AuditLogLink kind="pools" object={poolId}>
            {t.whoLoaded}
          </AuditLogLink>
        </>
      }
    >
      <div className="stack">
        <FileField
          label={t.file}
          hint={t.uploadText}
          accept=".csv,.ndjson,.jsonl,text/csv"
          onFile={setFile}
        />
        {check && <Checked check={check} fileName={file!.name} />}
        <div className="actions">
          {check ? (
            <button
              type="button"
              className="button main"
              disabled={sending !== null || (check.complete && check.importable === 0)}
              onClick={() => void send()}
            >
              {sending ? t.sending : t.send(formatNumber(check.importable), check.complete)}
            </button>
          ) : (
            <button
              type="button"
              className="button main"
              disabled={!file || isChecking}
              onClick={() => void checkFile()}
            >
              {isChecking ? t.checking : t.check}
            </button>
          )}
        </div>
        <h3>{t.loads}</h3>
        <Loaded query={loads} isEmpty={(list) => list.length === 0} empty={<p>{t.noLoads}</p>}>
          {(list) => (
            <ul className="stack">
              {list.map((load) => (
                <li key={load.id} className="progress" data-load={load.state}>
                  <span>
                    <strong>{nameOfLoad(load)}</strong>{' '}
                    <span
                      className={`badge ${{ running: 'warn', stalled: 'bad', finished: '', failed: 'bad' }[load.state]}`}
                    >
                      {t.loadStates[load.state]}
                    </span>
                  </span>
                  {load.state === 'running' && (
                    <progress
                      aria-label={t.sending}
                      {...(totals.has(load.id) && { max: totals.get(load.id), value: load.rows })}
                    />
                  )}
                  <span className="hint">
                    {load.state === 'running' &&
                      `${t.rowsOf(formatNumber(load.rows), totals.has(load.id) ? formatNumber(totals.get(load.id)!) : null)} `}
                    {t.counts(
                      formatNumber(load.imported),
                      formatNumber(load.duplicates),
                      formatNumber(load.rejected),
                    )}
                  </span>
                  {(load.state === 'failed' || load.state === 'stalled') && (
                    <p className="hint">{t.again(formatNumber(load.rows))}</p>
                  )}
                  {load.rejected > 0 && <Rejected poolId={poolId} load={load} />}
                  {withdrawals
                    .filter(({ load_id }) => load_id === load.id)
                    .map(({ id, created_at, reason }) => (
                      <p key={id}>{t.loadWithdrawn(formatMoment(created_at), reason)}</p>
                    ))}
                  {load.imported > 0 &&
                    !withdrawals.some(
                      (one) => one.load_id === load.id && one.state === 'done' && one.kept === 0,
                    ) && (
                      <div className="actions">
                        <button
                          type="button"
                          className="button danger small"
                          aria-label={`${t.withdrawLoad}: ${nameOfLoad(load)}`}
                          onClick={() => set('withdraw', load.id)}
                        >
                          {t.withdrawLoad}
                        </button>
                      </div>
                    )}
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </div>
    </Card>
  );
}

/** Says what a load of the chosen file would do. */
function Checked({ check, fileName }: { check: CardCheck; fileName: string }) {
  const { rows, importable, duplicates, rejected, values, rejected_rows, duplicate_rows, complete } = check;
  return (
    <section className="stack" data-check>
      <p>
        <strong>{t.checked(formatNumber(rows), formatNumber(importable))}</strong>{' '}
        {t.checkedRest(formatNumber(duplicates), formatNumber(rejected))}
      </p>
      {!complete && <p className="hint">{t.checkedPart(formatNumber(rows))}</p>}
      {values.length > 0 && (
        <Table
          caption={t.values}
          rows={values}
          keyOf={(value) => [value.denomination, value.currency, value.country, value.valid_until].join()}
          columns={[
            {
              name: t.value,
              isHead: true,
              cell: ({ denomination, currency }) => formatMoney(denomination, currency),
            },
            { name: t.country, cell: ({ country }) => country },
            { name: t.validUntil, cell: ({ valid_until }) => valid_until ?? NONE },
            { name: t.count, isNumber: true, cell: ({ cards }) => formatNumber(cards) },
            {
              name: t.total,
              isNumber: true,
              cell: ({ denomination, currency, cards }) => formatMoney(denomination * cards, currency),
            },
          ]}
        />
      )}
      <FoldedRows title={t.rejectedRows(formatNumber(rejected))} rows={rejected_rows} fileName={fileName} />
      <FoldedRows
        title={t.duplicateRows(formatNumber(duplicates))}
        rows={duplicate_rows}
        fileName={fileName}
      />
    </section>
  );
}

interface RowsProps {
  title: string;
  rows: RowReport[];
  /** Null if the request did not name the file. */
  fileName: string | null;
}

const FoldedRows = (props: RowsProps) =>
  props.rows.length > 0 && (
    <details>
      <summary>{props.title}</summary>
      <Rows {...props} />
    </details>
  );

/** The host counts neither the header nor blank lines. A spreadsheet counts both, but only the header is added here. */
function Rows({ title, rows, fileName }: RowsProps) {
  const hasHeader = fileName !== null && isCsv(fileName);
  const rowOf = ({ row }: RowReport) => row + (hasHeader ? 1 : 0);
  const reasonOf = ({ reason }: RowReport) => t.reasons[reason] ?? reason;
  return (
    <>
      <CsvButton
        label={texts.downloadCsv}
        name={`${slugOf(title)}.csv`}
        head={['row', 'reason']}
        rows={rows.map((one) => [rowOf(one), reasonOf(one)])}
      />
      <Table
        caption={title}
        rows={rows}
        keyOf={({ row }) => row}
        columns={[
          {
            name: hasHeader ? t.row : t.dataRow,
            isHead: true,
            cell: (one) => formatNumber(rowOf(one)),
          },
          { name: t.reason, cell: reasonOf },
        ]}
      />
    </>
  );
}

type Shown = Pick<CardLoad, 'id' | 'updated_at' | 'rejected' | 'file_name'>;
function Rejected({ poolId, load }: { poolId: string; load: Shown }) {
  const [isOpen, setOpen] = useState(false);
  const report = useQuery({
    queryKey: ['card-load', load.id, load.updated_at],
    enabled: isOpen,
    queryFn: ({ signal }) =>
      responseOf(perkway.gift.getGiftCardLoad({ poolId, loadId: load.id }, { signal })),
  });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t.rejectedRows(formatNumber(load.rejected))}</summary>
      {isOpen && (
        <Loaded query={report}>
          {({ rejected_rows = [] }) => (
            <Rows
              title={t.rejectedRows(formatNumber(load.rejected))}
              rows={rejected_rows}
              fileName={load.file_name}
            />
          )}
        </Loaded>
      )}
    </details>
  );
}
