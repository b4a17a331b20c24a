// Lists the failed tests of the Jest reports given as arguments, each with the beginning of its message, so that the end
// of a long CI log shows what failed.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const LINES = 12;

for (const report of process.argv.slice(2)) {
  for (const { name, message, assertionResults } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    const failures = failed.map((test) => [test.fullName, test.failureMessages.join('\n')]);
    // A file that could not run has no tests.
    if (assertionResults.length === 0 && message) failures.push(['did not run', message]);
    for (const [test, text] of failures) {
      const lines = stripVTControlCharacters(text).split('\n').slice(0, LINES);
      console.log(`\nFAILED ${relative('.', name)}: ${test}\n  ${lines.join('\n  ')}`);
    }
  }
}
