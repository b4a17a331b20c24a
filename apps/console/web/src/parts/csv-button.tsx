import { saveCsv, type Cell } from '../api/csv';
import { Icon } from './icon';

interface Props {
  label: string;
  /** File name. */
  name: string;
  head: string[];
  rows: Cell[][];
}

export function CsvButton({ label, name, head, rows }: Props) {
  return (
    <button type="button" className="button small" onClick={() => saveCsv(name, head, rows)}>
      <Icon name="download" /> {label}
    </button>
  );
}
