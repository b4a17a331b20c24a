import type { Problem } from '@perkway/catalogue';
import { misfits, type Shape } from '@perkway/catalogue/shapes';
import { parseYaml } from '@perkway/catalogue/yaml-files';
import { isRecord } from '@perkway/domain/is-record';
import { stringify } from 'yaml';
import { texts } from '../texts';
import { TextArea } from './fields';

const t = texts.editor;
const MIN_ROWS = 16;
const MAX_ROWS = 40;

/** Checks only that lists are lists and maps are maps, so that the form can show them. The host checks the rest. */
function read(text: string, shape: Shape): { body: Record<string, unknown> } | { problem: string } {
  const problems: Problem[] = [];
  const body = parseYaml('', text, problems);
  const [wrong] = problems;
  if (wrong) return { problem: wrong.row ? t.inRow(wrong.row, wrong.message) : wrong.message };
  if (!isRecord(body)) return { problem: t.notMap };
  const misfit = misfits(body, shape).find(({ expected }) => expected);
  return misfit ? { problem: t.expected(misfit.at, misfit.expected!) } : { body };
}

interface Props {
  /** The resource, in the format of the catalogue files. */
  body: object;
  shape: Shape;
  typed: { text: string; problem: string | null } | null;
  /** The body is null if the text has a problem. */
  onTyped: (text: string, body: Record<string, unknown> | null, problem: string | null) => void;
}

/** The same resource as in the form, as YAML. */
export default function YamlField({ body, shape, typed, onTyped }: Props) {
  const text = typed?.text ?? stringify(body, { lineWidth: 0 });
  return (
    <TextArea
      label={t.yaml}
      className="wide code"
      rows={Math.min(MAX_ROWS, Math.max(MIN_ROWS, text.split('\n').length))}
      spellCheck={false}
      hint={t.yamlHint}
      error={typed?.problem}
      value={text}
      onValue={(changed) => {
        const found = read(changed, shape);
        if ('body' in found) onTyped(changed, found.body, null);
        else onTyped(changed, null, found.problem);
      }}
    />
  );
}
