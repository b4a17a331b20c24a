// Fails where code or prose says a word that docs/glossary.md replaces by another one, and where a table of a document has a
// long cell. Part of `npm run lint`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Words that are not used here, and what to write instead. Inflections and parts of identifiers count too. */
const INSTEAD = {
  'answers?\\b': 'response, reply, respond',
  asker: 'caller',
  'bury|buried': 'dead-letter',
  'guess(?:er|limit)': 'failed attempt',
  'hang-?up': 'abort, request signal',
  'lanes?\\b': 'queue',
  'patien(?:t\\b|ce)': 'timeout, deadline',
  reckon: 'reconcile',
  'trials?\\b': 'test fleet, dry run',
  '(?:try|tries|tried|trying) on\\b': 'retry',
  upkeep: 'maintenance',
  'who(?:ever|soever)\\b': 'the subject',
};
/** Files and lines that may say one of them. */
const EXCEPTIONS = [
  // Immutable names: migrations, environment variables of the contract.
  /\/migrations\//,
  /UPKEEP_INTERVAL_MS/,
  // Members of foreign protocols and formats.
  /dns-server\.ts/,
  /AnswerOf|UNEXPECTED_ANSWER|examples\/demo/,
  /docs\/glossary\.md|check-words\.mjs/,
];

const FILES = ['*.ts', '*.tsx', '*.mjs', '*.md', '*.yaml', '*.sh', '*.css', '*.html'];
const found = execFileSync('git', ['ls-files', ...FILES], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        EXCEPTIONS.some((exception) => exception.test(`${file}: ${line}`))
          ? []
          : Object.entries(INSTEAD)
              .filter(([word]) =>
                new RegExp(`(?<![a-z_])(?:${word})`, 'i').test(line.replace(/([a-z])([A-Z])/g, '$1 $2')),
              )
              .map(([, instead]) => `${file}:${index + 1}: say ${instead}: ${line.trim().slice(0, 120)}`),
      ),
  );
const MAX_CELL = 120;
for (const file of execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n'))
  readFileSync(file, 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const cells = line.startsWith('| ') ? line.slice(1, -1).split(/(?<!\\)\|/) : [];
      if (cells.some((cell) => cell.trim().length > MAX_CELL))
        found.push(
          `${file}:${index + 1}: a cell has more than ${MAX_CELL} characters: ${line.slice(0, 120)}`,
        );
    });
for (const line of found) process.stderr.write(`${line}\n`);
process.exitCode = found.length ? 1 : 0;
