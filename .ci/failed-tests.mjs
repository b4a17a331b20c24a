// Lists the failed tests of the Jest reports given as arguments: first each with the beginning of its message, then all
// names, so that the end of a long CI log names every test that failed.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const LINES = 12;
const names = [];

for (const report of process.argv.slice(2)) {
  for (const { name, message, assertionResults } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    const failures = failed.map((test) => [test.fullName, test.failureMessages.join('\n')]);
    // A file that could not run has no tests.
    if (assertionResults.length === 0 && message) failures.push(['did not run', message]);
    for (const [test, text] of failures) {
      names.push(`${relative('.', name)}: ${test}`);
      const lines = stripVTControlCharacters(text).split('\n').slice(0, LINES);
      console.log(`\nFAILED ${names.at(-1)}\n  ${lines.join('\n  ')}`);
    }
  }
}
if (names.length) console.log(`\nFailed tests:\n  ${names.join('\n  ')}`);
