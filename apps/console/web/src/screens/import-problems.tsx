import type { Problem } from '@perkway/catalogue';
import { csvCell } from '@perkway/domain/csv-cell';
import { saveFile } from '../api/http';
import { Icon } from '../parts/icon';
import { Table } from '../parts/table';
import { texts } from '../texts';

const t = texts.catalogue;
const SHOWN = 100;

const COLUMNS = [
  { name: t.problemFile, member: 'file' },
  { name: t.problemRow, member: 'row' },
  { name: t.problemColumn, member: 'column' },
  { name: t.problem, member: 'message' },
] as const;

const save = (problems: Problem[]) => {
  const lines = [
    COLUMNS.map(({ member }) => member),
    ...problems.map((problem) => COLUMNS.map(({ member }) => problem[member])),
  ].map((cells) => cells.map(csvCell).join(','));
  saveFile('import-problems.csv', new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' }));
};

/** What is wrong in the files, by row and column. */
export const ImportProblems = ({ problems }: { problems: Problem[] }) => (
  <>
    <p>{t.problemsText}</p>
    <Table
      caption={t.problemsCaption}
      keyOf={(_, index) => index}
      rows={problems.slice(0, SHOWN)}
      columns={COLUMNS.map(({ name, member }) => ({
        name,
        isNumber: member === 'row',
        cell: (problem: Problem) => problem[member] ?? '–',
      }))}
    />
    {problems.length > SHOWN && <p>{t.problemsShown(SHOWN)}</p>}
    <p>
      <button type="button" className="button" onClick={() => save(problems)}>
        <Icon name="download" /> {t.problemsDownload}
      </button>
    </p>
  </>
);
