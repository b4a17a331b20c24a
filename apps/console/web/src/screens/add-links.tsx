import { useState } from 'react';
import { csvField } from '@perkway/domain/csv-cell';
import { saveCsv } from '../api/csv';
import { FILE_TIMEOUT_MS, send } from '../api/http';
import type { LinkJob } from '../api/types';
import { formatNumber } from '../format';
import { addLinks } from '../import/add-links';
import { DialogForm } from '../parts/dialog';
import { FileField } from '../parts/fields';
import { texts } from '../texts';

const t = texts.giftCards;

/** Adds the links of a job to a file of the user's, in the browser. */
export default function AddLinks({ job, onClose }: { job: LinkJob; onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [added, setAdded] = useState('');
  const add = async () => {
    setAdded('');
    if (!file) throw new Error(t.noFile);
    const links = await send(`/api/link-jobs/${job.id}/csv`, { timeoutMs: FILE_TIMEOUT_MS });
    const { head, rows, matched, column } = addLinks(await file.text(), await links.text());
    // The mailer must get the other columns as they were, also what a spreadsheet would evaluate.
    saveCsv(`${file.name.replace(/\.csv$/i, '')}-with-links.csv`, head, rows, csvField);
    setAdded(t.linksAdded(formatNumber(matched), formatNumber(rows.length), column));
  };
  return (
    <DialogForm title={t.addLinks} action={t.saveWithLinks} isOpen onClose={onClose} onSubmit={add}>
      <p>{t.addLinksText}</p>
      <FileField label={t.yourFile} hint={t.yourFileHint} accept=".csv,text/csv" onFile={setFile} />
      {added && <p role="status">{added}</p>}
    </DialogForm>
  );
}
