import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { ApiError } from '../api/http';
import { keyOf, PERKS } from '../api/managed';
import { usePerks } from '../api/perks-by-id';
import { perkway, responseOf } from '../api/perkway';
import { formatNumber } from '../format';
import type { Cell, Column } from '../import/column-from-csv';
import { Confirm } from '../parts/dialog';
import { FileField, TextArea } from '../parts/fields';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { texts } from '../texts';

const t = texts.couponCodes;
/** Requests stay below the body limit of the console, 1 MiB, whatever characters the codes have. */
const MAX_LENGTH = 300_000;

const LONGEST_CODE = 255;
const LISTED_ROWS = 5;

/** Finds the codes to send, and counts repeated codes, rows without a code, and codes that are too long. */
function checkCodes(rows: Cell[]) {
  const filled = rows.filter(({ value }) => value !== '');
  const codes = [...new Set(filled.map(({ value }) => value))];
  return {
    codes,
    empty: rows.length - filled.length,
    repeated: filled.length - codes.length,
    tooLong: filled.filter(({ value }) => value.length > LONGEST_CODE).map(({ row }) => row),
  };
}

/** Splits codes into requests. */
function batchesOf(codes: string[]): string[][] {
  const batches: string[][] = [];
  let length = MAX_LENGTH;
  for (const code of codes) {
    length += code.length + 3;
    if (length > MAX_LENGTH) {
      batches.push([]);
      length = code.length;
    }
    batches.at(-1)!.push(code);
  }
  return batches;
}

/** Shows the stock of single-use codes and adds to it. Shows nothing for a perk that has no such codes. */
export function CouponCodes({ perkId }: { perkId: string }) {
  const client = useQueryClient();
  const { say } = useNotices();
  const form = useRef<HTMLFormElement>(null);
  const [isConfirming, setConfirming] = useState(false);
  const [ofFile, setOfFile] = useState<Column | null>(null);
  const [typed, setTyped] = useState('');
  /** Number of codes sent so far, while they are being sent. */
  const [sent, setSent] = useState<number | null>(null);
  const key = [...keyOf(PERKS), 'codes', perkId];
  const stock = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      try {
        return await responseOf(perkway.perks.getCouponCodeStock({ perkId }, { signal }));
      } catch (error) {
        if (error instanceof ApiError && error.code === 'PERK_HAS_NO_CODES') return null;
        throw error;
      }
    },
  });
  const title = usePerks(stock.data ? [perkId] : []).get(perkId)?.title ?? perkId;
  const rows =
    ofFile?.cells ??
    typed
      .split('\n')
      .map((line, index) => ({ row: index + 1, value: line.trim() }))
      .filter(({ value }) => value !== '');
  const { codes, empty, repeated, tooLong } = checkCodes(rows);
  const read = async (file: File | null) => {
    try {
      setOfFile(file && (await import('../import/column-from-csv')).cellsFromCsv(await file.text(), 'code'));
    } catch (error) {
      setOfFile({ cells: [], hasHeader: true });
      say((error as Error).message, 'bad');
    }
  };
  const load = async () => {
    const total = { imported: 0, duplicates: 0 };
    setSent(0);
    try {
      for (const batch of batchesOf(codes)) {
        const { imported, duplicates } = await responseOf(
          perkway.perks.loadCouponCodes({ perkId, codes: batch }),
        );
        total.imported += imported;
        total.duplicates += duplicates;
        setSent((before) => (before ?? 0) + batch.length);
      }
      say(t.counts(formatNumber(total.imported), formatNumber(total.duplicates)));
      form.current?.reset();
      setOfFile(null);
      setTyped('');
    } catch (error) {
      say(`${(error as Error).message} ${t.again(formatNumber(total.imported))}`, 'bad');
    } finally {
      setSent(null);
      await client.invalidateQueries({ queryKey: key });
    }
  };

  if (!stock.data && !stock.isError) return null;
  // A header that was taken for a code shows here.
  const sample = codes.length > 0 && tooLong.length === 0 && (
    <>
      <p>
        {t.first} <code>{codes[0]}</code>, {t.last} <code>{codes.at(-1)}</code>
      </p>
      {ofFile?.hasHeader === false && <p>{t.noHeader}</p>}
    </>
  );
  return (
    <Card title={t.title} note={t.note}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setConfirming(true);
        }}
      >
        <Loaded query={stock}>
          {(counts) => (
            <dl className="facts">
              {(['left', 'allocated', 'loaded'] as const).map((name) => (
                <div key={name} data-codes={name}>
                  <dt>{t[name]}</dt>
                  <dd>{formatNumber(counts![name])}</dd>
                </div>
              ))}
            </dl>
          )}
        </Loaded>
        <FileField
          label={t.file}
          hint={t.fileHint}
          accept=".csv,.txt,text/csv,text/plain"
          onFile={(file) => void read(file)}
        />
        {ofFile === null && <TextArea label={t.codes} hint={t.codesHint} value={typed} onValue={setTyped} />}
        {rows.length > 0 && (
          <p data-check>
            <strong>{t.checked(formatNumber(codes.length), formatNumber(rows.length))}</strong>{' '}
            {t.checkedRest(formatNumber(repeated), formatNumber(empty))}
          </p>
        )}
        {sample}
        {tooLong.length > 0 && (
          <p className="field-error" role="alert">
            {t.tooLong(formatNumber(tooLong.length), LONGEST_CODE, tooLong.slice(0, LISTED_ROWS))}
          </p>
        )}
        {sent !== null && <progress aria-label={t.loading} max={codes.length} value={sent} />}
        <div className="actions">
          <button
            type="submit"
            className="button main"
            disabled={sent !== null || codes.length === 0 || tooLong.length > 0}
          >
            {sent === null ? t.load(codes.length) : t.loading}
          </button>
        </div>
      </form>
      <Confirm
        title={t.confirmTitle(codes.length, title)}
        text={t.confirmText}
        children={sample}
        action={t.load(codes.length)}
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        onConfirm={async () => void load()}
      />
    </Card>
  );
}
