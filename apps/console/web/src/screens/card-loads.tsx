import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sendRequest } from '../api/http';
import { perkway, responseOf } from '../api/perkway';
import { refreshGiftCards } from '../api/stock';
import type { CardLoad, CardLoadReport } from '../api/types';
import { formatMoment, formatNumber } from '../format';
import { FileField } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.pools;
const WATCH_MS = 1_000;

/** Total rows of the files sent from this window, because the host does not know how many are still to come. */
const totals = new Map<string, number>();

/** Counts the non-empty lines, without the header of a CSV. */
async function countRows(file: File, isCsv: boolean): Promise<number> {
  let lines = 0;
  let rest = '';
  const texts = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await texts.read(); !part.done; part = await texts.read()) {
    const whole = (rest + part.value).split(/\r?\n/);
    rest = whole.pop()!;
    lines += whole.filter((line) => line.trim() !== '').length;
  }
  return lines + (rest.trim() === '' ? 0 : 1) - (isCsv ? 1 : 0);
}

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

/** Shows the uploads of a pool. The host stores their progress, so they are visible from any window. */
export function CardLoads({ poolId }: { poolId: string }) {
  const client = useQueryClient();
  const { say } = useNotices();
  const [file, setFile] = useState<File | null>(null);
  const [sending, setSending] = useState<string | null>(null);
  const key = ['card-loads', poolId];
  const loads = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => responseOf(perkway.gift.getGiftCardLoads({ poolId }, { signal })),
    refetchInterval: ({ state }) =>
      sending || state.data?.some((load) => load.state === 'running') ? WATCH_MS : false,
  });

  // Warn before closing: only this window has the rest of the file.
  useEffect(() => {
    if (sending === null) return undefined;
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [sending]);

  const send = async () => {
    if (!file) return;
    const loadId = crypto.randomUUID();
    setSending(loadId);
    try {
      const isCsv = !/\.(nd)?jsonl?$/i.test(file.name);
      const type = isCsv ? 'text/csv' : 'application/x-ndjson';
      totals.set(loadId, await countRows(file, isCsv));
      // Not by the client, whose timeout is too short for a large file.
      const { body } = await sendRequest<CardLoadReport>(`/api/gift/admin/pools/${poolId}/cards`, {
        method: 'POST',
        query: { loadId },
        body: file,
        headers: { 'content-type': type },
      });
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
      await client.invalidateQueries({ queryKey: key });
      await refreshGiftCards(client);
    }
  };

  return (
    <Card title={t.upload} note={t.loadsNote}>
      <div className="stack">
        <FileField
          label={t.file}
          hint={t.uploadText}
          accept=".csv,.ndjson,.jsonl,text/csv"
          onFile={setFile}
        />
        <button
          type="button"
          className="button main"
          disabled={!file || sending !== null}
          onClick={() => void send()}
        >
          {sending ? t.sending : t.send}
        </button>
        <h3>{t.loads}</h3>
        <Loaded query={loads} isEmpty={(list) => list.length === 0} empty={<p>{t.noLoads}</p>}>
          {(list) => (
            <ul className="stack">
              {list.map((load) => (
                <li key={load.id} className="progress" data-load={load.state}>
                  <span>
                    <strong>{t.started(formatMoment(load.started_at))}</strong>{' '}
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
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </div>
    </Card>
  );
}

type Shown = Pick<CardLoad, 'id' | 'updated_at' | 'rejected'>;
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
            <Table
              caption={t.rejectedRows(formatNumber(load.rejected))}
              rows={rejected_rows}
              keyOf={({ row }) => row}
              columns={[
                { name: t.row, isHead: true, cell: ({ row }) => formatNumber(row) },
                { name: t.reason, cell: ({ reason }) => t.reasons[reason] ?? reason },
              ]}
            />
          )}
        </Loaded>
      )}
    </details>
  );
}
