import type { Problem } from '@perkway/catalogue';
import { csvCell } from '@perkway/domain/csv-cell';
import { saveFile } from '../api/http';
import { groupProblems, rowsText, type ProblemGroup } from '../import/group-problems';
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

const CELLS: Record<(typeof COLUMNS)[number]['member'], (group: ProblemGroup) => string | undefined> = {
  file: ({ file }) => file,
  row: ({ rows }) => rowsText(rows),
  column: ({ column }) => column,
  message: ({ message, count }) => t.problemOf(message, count - 1),
};

/** Lists the problems, grouped by cause. The download has a line for every row. */
export function ImportProblems({ problems }: { problems: Problem[] }) {
  const groups = groupProblems(problems);
  return (
    <>
      <p>{t.problemsText}</p>
      <Table
        caption={t.problemsCaption}
        keyOf={(_, index) => index}
        rows={groups.slice(0, SHOWN)}
        columns={COLUMNS.map(({ name, member }) => ({
          name,
          cell: (group: ProblemGroup) => CELLS[member](group) || '–',
        }))}
      />
      {groups.length > SHOWN && <p>{t.problemsShown(SHOWN)}</p>}
      <p>
        <button type="button" className="button" onClick={() => save(problems)}>
          <Icon name="download" /> {t.problemsDownload}
        </button>
      </p>
    </>
  );
}
